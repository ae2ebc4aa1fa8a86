// Package tidemilltest runs graphs in tests, in virtual time and without a server: with
// fakes in the places of actions, with answers to pauses, and with whatever may go
// wrong on the way.
//
//	func TestApproval(t *testing.T) {
//		run := tidemilltest.Play(t, tidemilltest.Scenario{
//			App:   tidemilltest.Graphs("graphs/order.yaml"),
//			Input: map[string]string{"order": "7"},
//			Fakes: tidemilltest.Fakes{
//				"http": tidemilltest.Always(tidemilltest.Output(order)),
//				"ship": tidemilltest.InTurn(tidemilltest.Fails("no_courier", "try later"), tidemilltest.Output("shipped")),
//			},
//			Answers: []tidemilltest.Answer{{Pause: "approve", Input: yes, After: 26 * time.Hour}},
//		})
//		run.Require(tidemilltest.Expect{Output: "shipped", Path: []string{"fetch", "triage", "approve", "ship"}})
//	}
//
// The graph is compiled, its expressions are evaluated, its schemas checked and its
// limits kept by the code that does it in a worker: what passes here goes the same way
// there. Only what the world does is the test's to say. An action of the App without a
// fake is called for real.
//
// # Order
//
// Of what is due at one instant, an answer or a cancel comes first, then permits, then
// attempts in the order in which they were scheduled, then timers, then what children
// say. Each is told to the run by itself.
//
// # Twice
//
// Every run is done twice, and the two transcripts must be the same; see [Simulate]. A
// graph that passes does not meet a non-determinism error for what it or its callbacks
// do.
//
// # Cases
//
// Cases can also stand in YAML beside the graph; see [LoadCases] and [RunCases], and
// `starter test` on the command line.
package tidemilltest
