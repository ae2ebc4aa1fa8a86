// Package historytest keeps histories of runs and replays them.
//
// A replay runs today's workflow code against what yesterday's wrote, and fails
// where the two would have decided differently. So every history a test makes,
// and one of every shape ever released, is worth a replay.
//
//	recording := historytest.Record(t, c, "order-7", "")
//	historytest.Replay(t, recording, register)
//
// One recording of every shape lives in testdata/histories, written by [Save] and
// read by [Load]. A file holds the workflow and run id besides the events: ids of
// children and activities are made from them, and the events alone do not hold the
// workflow id. [Release] puts what is there under the version of the interpreter's
// rules that wrote it, where [Corpus] sees to it that it stays as it is.
package historytest
