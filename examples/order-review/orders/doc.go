// Package orders is the shop that the example talks to: an HTTP server that knows
// a few orders, ships them, and counts every call.
//
//	GET  /orders/{id}    an order, or 404
//	POST /parcels        {"order": id} ships it; Idempotency-Key makes a repetition harmless
//	GET  /parcels/{id}   a parcel, which is delivered at the second look
//	GET  /calls          how often each of the others was called
//
// The counts are its point: they show that a run repeats no step that was
// committed, whatever happened to its workers. A [Server] can also be told to fail
// or to hold its answer for one order, which is how the tests catch a worker in
// the middle of a step.
package orders
