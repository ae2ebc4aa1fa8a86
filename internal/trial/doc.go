// Package trial runs the test cases of graphs on a real server, with a worker whose
// actions are the cases' fakes, replays the histories, and compares what came of it
// with what came of the case in virtual time.
//
//	server := trial.New(client, logger)
//	verdict := server.Play(ctx, suite, testCase, virtual)
//
// A server's time is real, so a case that would take long is skipped, with the reason.
package trial
