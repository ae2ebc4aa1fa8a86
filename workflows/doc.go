// Package workflows holds the Temporal workflows of Tidemill, one per file.
//
// [Graph] interprets a graph under the graph's own workflow type. It decides
// nothing: a [graph.Machine] says what should start next, the workflow starts
// it as an activity, a timer or a pause, and hands each event back. What steers
// a run is either in its history or in its pin, the first thing that it
// records; the worker's own configuration never does, so runs move freely
// between workers that are configured differently.
//
// # Order within a workflow task
//
// Signals are read and judged first, then what has happened is applied in the
// order it arrived, then the machine runs ahead, then what became due is
// started. Local activities that the machine's decisions come from are durable
// only when their task ends, so the task budget ends a task before too much
// hangs on it.
//
// # Children
//
// A child graph, and a map too long for its run, is a child workflow, started with
// [graph.ChildStart] beside its input; its id is the root's and the whole address,
// which also begins the ids of all that it does. It is asked to stop when its
// parent closes, and awaited when the parent cancels it.
//
// Two signals pass between them, both named in this package and for runs only. The
// child tells what changed of its pauses ([graph.ChildReport]), one report at a time;
// the parent hands an answer down ([graph.ForwardedAnswer]) and reads in the child's
// next report what became of it. A child says nothing when it begins or ends, for
// the server does; it does not close before it has replied.
//
// # Admission
//
// [Admission] holds the permits of a domain. It waits and forwards to an
// [admission.Book], which alone decides. Its updates are answered in the task that
// takes them and never wait for a permit; what an owner must be told later is brought
// to it after that task is written down, by whoever sent the batch or by an activity,
// never from within the task: a task may be lost and decided anew, and a permit that
// was heard of must not be given to another. Whether owners still run is asked when
// their leases run out. A run hands its book, gzipped, to the next; a book that cannot
// be read blocks the workflow, for an empty one would give away what others hold.
//
// Its worker should be one of its own, with a deadlock detection of some seconds: a
// very large book takes that long to hand over.
//
// # Errors
//
// A run that fails closes with a non-retryable ApplicationError whose type is
// one of the graph package's error types and whose details are the outcome
// document. A cancelled run closes as Canceled with the same document.
package workflows
