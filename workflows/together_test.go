package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// replayOften replays a run many times: an order that comes from a map is another one
// only now and then.
func (w *world) replayOften(run client.WorkflowRun, times int) {
	w.tb.Helper()
	recording := historytest.Record(w.tb, w.client, run.GetID(), run.GetRunID())
	for range times {
		historytest.Replay(w.tb, recording, registerReplay)
	}
}

// B13, C9: answers that arrive together are taken in one order, whatever the order
// in which they are held; a replay that took them in another would be stuck.
func TestAnswersInOneTask(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 5 {
		branches = append(branches, fmt.Sprintf("p%d: type: pause, delta: {log: ['${ [run.node, result] }']}", i))
	}
	doc := "version: 1\nid: batch\nentry: f\nstate_reducers: {log: append}\nnodes:" + forkOf("", branches...) + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	run := w.run("batch")
	w.paused(run)
	w.worker.Stop()
	for _, i := range []int{3, 0, 4, 1, 2} {
		w.signal(run, fmt.Sprintf("%sp%d#1", workflows.SignalResumePrefix, i), i*10)
	}
	w.worker = w.start(parts{})
	require.JSONEq(t, `{"p0":0,"p1":10,"p2":20,"p3":30,"p4":40}`, w.output(run))
	require.JSONEq(t, `{"log":[["p0",0],["p1",10],["p2",20],["p3",30],["p4",40]]}`, string(w.status(run).State))
	w.replayOften(run, 50)
}

// B4, B13: so are answers to the items of a map and to what their children ask,
// which come to each run in an order of the server's.
func TestAnswersOfItemsInOneTask(t *testing.T) {
	t.Parallel()
	doc := "version: 1\nid: items\nentry: f\nnodes:" + forkOf("", "m: type: map, items: [0, 1, 2, 3], item: {type: pause}",
		"o: type: map, items: [0, 1, 2], item: {"+inside("{id: first, type: pause, next: last}, {id: last, type: set, output: '${ input }', next: end}")+"}") + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	run := w.run("items")
	w.until(run, "all pauses", func(r graph.Report) bool { return len(r.Pauses) == 7 && r.Status == graph.StatusPaused })
	w.worker.Stop()
	for _, i := range []int{2, 0, 3, 1} {
		w.signal(run, fmt.Sprintf("%sm#1/%d", workflows.SignalResumePrefix, i), i)
	}
	for _, i := range []int{1, 2, 0} {
		w.signal(run, fmt.Sprintf("%so#1/%d/first#1", workflows.SignalResumePrefix, i), i*10)
	}
	w.worker = w.start(parts{})
	require.JSONEq(t, `{"m":[0,1,2,3],"o":[0,10,20]}`, w.output(run))
	for i := range 3 {
		w.replayOften(w.child(run, fmt.Sprintf("o#1/%d", i)), 10)
	}
	w.replayOften(run, 50)
}

// A15: a branch that completes in the very task in which its sibling decides the
// fork is judged in declared order, whatever the server's order was, and a replay
// judges alike. Both endings reach one task because nobody works on it meanwhile.
func TestBranchesEndInOneTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy  string
		first   string // of the branches a, which completes, and b, which fails
		want    string // the output, or error types
		outcome string // how a stands in the failed run's checkpoint
	}{
		{"all", "a", "fork_branch_failed/broken", "completed"},
		{"all", "b", "fork_branch_failed/broken", "completed"},
		{"any", "b", `{"a":"done"}`, ""},
		{"first_success", "b", `{"a":"done"}`, ""},
		{"{quorum: 2}", "a", "fork_join_unsatisfied/broken", "completed"},
	} {
		t.Run(c.policy+", "+c.first+" first", func(t *testing.T) {
			t.Parallel()
			server := shared.Server(t)
			other := server.TaskQueue(t) + "-activities"
			foreign := "run: {activity: End, task_queue: " + other + "}, args: '${ run.node }', retry: {max_attempts: 1}"
			doc := "version: 1\nid: race\nentry: f\nnodes:" + forkOf(", join_policy: "+c.policy, "a: "+foreign, "b: "+foreign) + plainJoin + "\n"
			w := setup(t, parts{graphs: []string{doc}})
			run := w.run("race")
			w.when(run, "both activities", func(w *world, run client.WorkflowRun) bool {
				return temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) == 2
			})
			w.worker.Stop()
			w.endInOrder(run, other, c.first)
			w.worker = w.start(parts{})
			if c.outcome == "" {
				require.JSONEq(t, c.want, w.output(run))
			} else {
				_, report := w.failure(run)
				require.Equal(t, c.want, failureTypes(report.Error))
				require.Contains(t, string(forkedBranches(w, run)), `"id":"a","status":"`+c.outcome+`"`)
			}
			w.replayOften(run, 50)
		})
	}
}

// endInOrder works on both branches of a race, so that first ends before the
// other: a completes and b fails.
func (w *world) endInOrder(run client.WorkflowRun, queue, first string) {
	w.tb.Helper()
	before := temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
	over := make(chan struct{})
	w.server.Worker(w.tb, w.client, queue, worker.Options{}, func(r worker.Registry) {
		r.RegisterActivityWithOptions(func(ctx context.Context, node string) (string, error) {
			if node != first {
				select {
				case <-over:
				case <-ctx.Done():
				}
			}
			if node == "b" {
				return "", temporal.NewNonRetryableApplicationError("no", "broken", nil)
			}
			return "done", nil
		}, activity.RegisterOptions{Name: "End"})
	})
	ended := func(n int) {
		temporaltest.Wait(w.tb, 20*time.Second, fmt.Sprintf("%d of the branches to end", n), func() bool {
			h := w.history(run)
			return temporaltest.Count(h, enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)+temporaltest.Count(h, enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED) == n
		})
	}
	ended(1)
	close(over)
	ended(2)
	require.Equal(w.tb, before, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED), "somebody worked on the run")
}

// B31, B24: of two branches that wait for people one is over; whoever listened
// for it must not take the answer of the other.
func TestAnswerAfterASiblingIsOver(t *testing.T) {
	t.Parallel()
	late := "a: type: pause, expires: 1s, on_error: {output: '${ error.type }'}"
	doc := "version: 1\nid: over\nentry: f\nnodes:" + forkOf("", late, "b: type: pause", "c: type: pause") + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	for _, plain := range []bool{false, true} {
		run := w.run("over")
		w.until(run, "the first pause to expire", func(r graph.Report) bool { return len(r.Pauses) == 2 && r.Status == graph.StatusPaused })
		w.signal(run, workflows.SignalResumePrefix+"a#1", "too late")
		w.until(run, "the late answer to be refused", func(r graph.Report) bool { return r.Rejected.Count == 1 })
		require.Equal(t, graph.ErrTypePauseClosed, w.status(run).Rejected.Last[0].Type)
		w.signal(run, workflows.SignalResumePrefix+"b#1", "b")
		w.until(run, "b to be answered", pausedAt("c#1"))
		if plain {
			w.signal(run, workflows.SignalResume, "c")
		} else {
			w.signal(run, workflows.SignalResumePrefix+"c#1", "c")
		}
		require.JSONEq(t, `{"a":"pause_expired","b":"b","c":"c"}`, w.output(run))
	}
}

// B10: a run under the id of an earlier one begins without that one's answers,
// and an answer meant for the earlier run does not reach it.
func TestAnswersOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{rounds}})
	earlier := w.run("rounds")
	w.round(earlier, "ask#1", 0)
	w.signal(earlier, workflows.SignalResume, "for the earlier run")
	w.round(earlier, "ask#2", 0)
	w.cancel(earlier)
	w.failure(earlier)

	again, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: earlier.GetID(), TaskQueue: w.queue}, "rounds")
	require.NoError(t, err)
	w.runs = append(w.runs, again)
	w.round(again, "ask#1", 0)
	require.Empty(t, w.checkpoint(again).Answers)
	require.Error(t, w.client.SignalWorkflow(t.Context(), earlier.GetID(), earlier.GetRunID(), workflows.SignalResume, "late"))
	_, err = w.resume(earlier, workflows.ResumeInput{Input: json.RawMessage(`"late"`)})
	require.Error(t, err)
	w.signal(again, workflows.SignalResume, "first")
	w.round(again, "ask#2", 0)
	w.signal(again, workflows.SignalResume, "second")
	require.JSONEq(t, `{"answers":["first","second"]}`, w.output(again))
}
