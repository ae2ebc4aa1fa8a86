// Package permits connects those who need permits with the book that gives them.
//
// An [Admitter] is asked for permits and given them back. There are two: the
// combiner, which gathers what one process asks for and sends it in batches to the
// semaphore workflow of a domain, and the in-process one, which holds a book of its
// own for programs that need no more than one process. Both pass one conformance
// suite.
//
// Answers that come later than the question are delivered by an [Owners]: to a chain
// of workflow runs by signal. It also finds out whether an owner still runs, and
// which permits it believes to have. A [Gateway] is how the semaphore reaches it.
//
// [Batch.Carry], [Decide] and [Steer.Apply] do to a book what is asked of it, for the
// semaphore and for books that are held elsewhere.
package permits
