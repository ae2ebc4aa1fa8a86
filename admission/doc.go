// Package admission decides which requests may run now, which must wait, and
// why.
//
// A [Book] is a plain value that moves only when a method is called. It holds
// the permits in use and the requests that wait; it reads no clock, starts no
// goroutine and does no I/O. Time arrives as an argument, and what was decided
// leaves as a return value. The same calls in the same order give the same
// decisions, which is what lets a workflow hold a book and survive a replay.
//
//	book, err := admission.NewBook(admission.Limits{Global: 64, DefaultAgent: 8})
//	err = book.Submit(now, admission.Request{ID: "run-1/plan#1", Owner: owner, Agent: "planner"})
//	turn := book.Decide(now) // turn.Decisions holds the answer
//	…
//	book.Release(now, "run-1/plan#1", token)
//	turn = book.Decide(now)  // whoever that let in
//
// Calls between two [Book.Decide] are one batch: a release makes room for a
// request of the same batch, whichever of the two came first.
//
// # Order
//
// A request names keys with units. All are granted together or none.
//
// Requests of one flow with the same set of keys form a lane. A lane is first
// in, first out by the time of arrival, moved by the priority; a wide request
// is never passed by a narrow one of its own lane. The head of a lane is
// eligible when every key of it has room and every rate is ready. Among the
// eligible heads the smallest rank goes first: (tag of the flow, arrival moved
// by the priority, number of the request). Nobody waits behind a key that is
// not his own.
//
// Nothing starves, provided that holders end:
//   - A priority moves a request by at most [Limits.Boost], so it is passed
//     only by what arrives within twice that time.
//   - Flows share by start-time fair queueing: each grant moves the flow's tag
//     on by its cost over its weight. An idle flow saves up nothing, and when
//     nobody waits all flows are even again.
//   - A request for several keys or units that is head of its lane and has
//     waited for [Limits.Patience] becomes a claim: room on its keys is kept
//     for it. A flow has one claim at a time, and claims on common keys take
//     turns, so a claim costs at most its own units for one hold.
//
// The order of one flow and equal priorities is therefore: the oldest request
// whose keys have room, first in first out per agent.
//
// A request that becomes visible later ([Request.VisibleAt]) joins its lane at
// that time, at the place that its arrival gives it.
//
// # Endings
//
// Every request ends in one function, exactly once: release, cancel, deadline,
// the end of a lease, the death of the owner, drain. A request id is answered
// from memory when it comes again, and an id that was cancelled before it came
// is refused when it comes.
//
// # Errors
//
// [Book.Submit] returns an error matching [ErrInvalidRequest] or
// [ErrForeignRequest]; [NewBook] and [Book.SetLimits] one matching
// [ErrInvalidLimits]; [ParseState] and [Restore] one matching
// [ErrInvalidState]. None of them changes a book. What a request meets
// afterwards is an [Answer], never an error.
package admission
