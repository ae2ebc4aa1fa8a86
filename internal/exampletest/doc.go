// Package exampletest runs the graphs of an example on a real server, the way its
// users would: a worker with the example's App, and runs started by name.
//
//	bench := exampletest.New(t, temporal.Server(t), research.NewApp(), tidemill.WorkerOptions{})
//	run := bench.Start(t, "research", `{"topic":"tides"}`)
//	run.Answer(t, "expert#1/spend#1", `{"approved":true}`)
//	report := run.Ends(t, tidemill.StatusCompleted)
//
// When a test that passed is over, the histories of its runs and of all their
// children are replayed.
package exampletest
