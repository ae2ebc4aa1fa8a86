package workflows_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

var (
	update  = flag.Bool("update", false, "record the histories that are missing; delete one to have it recorded anew")
	release = flag.Bool("release", false, "keep the recorded histories as they are from now on")
)

const histories = "testdata/histories"

// shape is one kind of run whose history is kept.
type shape struct {
	name  string
	graph string
	input string
	act   func(*world, client.WorkflowRun) // brings the run to its end; nil: it ends by itself
	open  bool                             // it is recorded before its end
	child string                           // the address of a child that is recorded as well
}

// names are those of its recordings.
func (s shape) names() []string {
	if s.child == "" {
		return []string{s.name}
	}
	return []string{s.name, s.name + "_below"}
}

// allShapes are the shapes of runs that need nothing but a worker with graphs. The last
// leaves a worker without any.
func allShapes() []shape { return slices.Concat(forkShapes, moreShapes, shapes) }

var shapes = []shape{
	{name: "linear", graph: "linear", input: `{"count":1}`},
	{name: "branch_and_loop", graph: "turns", input: `{"count":0}`},
	{name: "pause_by_signal", graph: "approval", input: `{"order":7}`, act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.signal(run, workflows.SignalResume, "refused")
		w.until(run, "the refusal", func(r graph.Report) bool { return r.Rejected.Count == 1 })
		w.signal(run, workflows.SignalResumePrefix+"ask#1", map[string]bool{"approved": true})
	}},
	{name: "pause_by_update", graph: "approval", input: `{"order":7}`, act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		_, err := w.update(run, "answer", workflows.ResumeInput{Input: json.RawMessage(`{"approved":false}`), Actor: "ann", Note: "no"})
		require.NoError(w.tb, err)
	}},
	{name: "pause_open", graph: "rounds", input: `{}`, open: true, act: func(w *world, run client.WorkflowRun) {
		w.round(run, "ask#1", 0)
		w.signal(run, workflows.SignalResume, 1)
		w.round(run, "ask#2", 0)
	}},
	{name: "pause_of_an_action", graph: "action_pause", input: `{"order":"7"}`, act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.signal(run, workflows.SignalResume, map[string]string{"name": "ann"})
	}},
	{name: "expiry", graph: "impatient", input: `{"order":7}`},
	{name: "wait", graph: "tick", input: `{}`},
	{name: "native_retry", graph: "retried", input: `{}`},
	{name: "interruption", graph: "deliver", input: `{}`, open: true, act: func(w *world, run client.WorkflowRun) {
		w.until(run, "the second interruption", func(r graph.Report) bool { return len(r.Waiting) == 1 && r.Waiting[0].NextCheck != nil })
	}},
	{name: "cancel_action", graph: "cancelled", input: `{"phase":"action"}`, act: cancelOnceActive},
	{name: "cancel_pause", graph: "cancelled", input: `{"phase":"pause"}`, act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.cancel(run)
	}},
	{name: "deadline", graph: "waiting", input: `{}`},
	{name: "deadline_action", graph: "working", input: `{}`},
	{name: "failure_routed", graph: "routed", input: `{}`},
	{name: "failure_business", graph: "closings", input: `{"how":"business"}`},
	{name: "budget_spent", graph: "spent", input: `{}`},
	{name: "long_loop", graph: "long_loop", input: `{"count":5000}`},
	{name: "fork_all", graph: "forked_all", input: `{}`},
	{name: "fork_loser", graph: "forked_any", input: `{}`},
	{name: "fork_failed", graph: "forked_failing", input: `{}`},
	{name: "fork_paused", graph: "forked_pauses", input: `{}`, open: true, act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.signal(run, workflows.SignalResumePrefix+"b#1", 2)
		w.until(run, "the answer to be taken", func(r graph.Report) bool { return len(r.Pauses) == 1 })
	}},
	{name: "local", graph: "local_shape", input: `{}`},
	{name: "child", graph: "sub_plain", input: `{"n":1}`, child: "sub#1"},
	{name: "child_retried", graph: "sub_failing", input: `{}`, child: "sub#1~2"},
	{name: "child_refused", graph: "sub_refused", input: `{}`, child: "sub#1"},
	{name: "child_timeout", graph: "sub_timeout", input: `{}`, child: "sub#1"},
	{name: "child_cancelled", graph: "sub_timeout", input: `{}`, child: "sub#1", act: func(w *world, run client.WorkflowRun) {
		w.when(w.child(run, "sub#1"), "the child's action", started)
		w.cancel(run)
	}},
	{name: "child_pause_by_update", graph: "sub_asking", input: `{}`, child: "sub#1", act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		_, err := w.update(run, "refused", workflows.ResumeInput{Input: json.RawMessage(`{"approved":1}`)})
		require.Error(w.tb, err)
		_, err = w.update(run, "answer", workflows.ResumeInput{Input: json.RawMessage(`{"approved":true}`), Actor: "ann"})
		require.NoError(w.tb, err)
	}},
	{name: "child_pause_by_signal", graph: "sub_asking", input: `{}`, child: "sub#1", act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.signal(run, workflows.SignalResume, map[string]int{"approved": 1})
		w.until(run, "the refusal", func(r graph.Report) bool { return r.Rejected.Count == 1 })
		w.signal(run, workflows.SignalResume, map[string]bool{"approved": true})
	}},
	{name: "child_pause_open", graph: "sub_asking", input: `{}`, child: "sub#1", open: true, act: func(w *world, run client.WorkflowRun) { w.paused(run) }},
	{name: "map", graph: "mapped_items", input: `{"list":[1,2,3,4,5]}`},
	{name: "map_long", graph: "mapped_long", input: longList, child: "each#1"},
	{name: "map_paused", graph: "mapped_pauses", input: `{"list":[1,2]}`, act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.signal(run, workflows.SignalResumePrefix+"each#1/1", "one")
		w.until(run, "the answer to be taken", func(r graph.Report) bool { return len(r.Pauses) == 1 })
		w.signal(run, workflows.SignalResume, "the other")
	}},
	{name: "refused_input", graph: "closings", input: `{}`},
	{name: "refused_graph", graph: "closing", input: `{}`},
	// The last, for it leaves a worker without graphs.
	{name: "child_handed_over", graph: "caller", input: `{}`, child: "call#1", act: func(w *world, run client.WorkflowRun) {
		w.paused(run)
		w.worker.Stop()
		w.worker = w.start(parts{})
		w.signal(run, workflows.SignalResume, 1)
	}},
}

// longList is long enough for a run of its own, which fails soon.
var longList = `{"list":[1,2` + strings.Repeat(",1", 200) + `]}`

func cancelOnceActive(w *world, run client.WorkflowRun) {
	w.when(run, "the action", started)
	w.cancel(run)
}

// shapeGraphs are the documents of the shapes that no other test has.
var shapeGraphs = []string{
	`
version: 1
id: turns
entry: again
nodes:
  - {id: again, type: loop, while: "state.count < 3", body: add, done: which, max_iterations: 5}
  - {id: add, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: again}
  - {id: which, type: branch, cases: [{when: "state.count == 3", to: three}], default: end}
  - {id: three, type: set, output: "three ${ state.count }", next: end}
`, `
version: 1
id: retried
entry: a
nodes: [{id: a, run: act, args: {fail: boom, until: 2, output: done}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]
`, `
version: 1
id: routed
entry: a
nodes:
  - {id: a, run: fail, args: {type: no_stock, message: none left}, on_error: {cases: [{when: "error.type == 'no_stock'", to: b}]}, next: end}
  - {id: b, type: set, output: "${ input.type }", next: end}
`, `
version: 1
id: spent
entry: a
max_steps: 3
nodes: [{id: a, type: set, delta: {x: 1}, next: a}]
`,
	nested("sub_plain", "", `
        - {id: first, run: act, args: {output: 5, delta: {seen: 2}}, next: end}`),
	nested("sub_failing", "\n    retry: {max_attempts: 2}", `
        - {id: first, run: act, args: {fail: boom}, next: end}`),
	nested("sub_refused", "", `
        - {id: first, type: set, next: end}
      input_schema: {type: object, required: [absent]}`),
	nested("sub_timeout", "\n    timeout: 5s", `
        - {id: first, run: beat, next: end}`),
	asking("sub_asking", approvedSchema),
	mapped("mapped_items", "\n    tolerate: {count: 1}\n    max_concurrency: 100", `
      run: act
      args: {fail: "${ item == 2 ? 'boom' : '' }", output: "${ item * 10 }"}`),
	mapped("mapped_long", "\n    max_concurrency: 5", `
      run: act
      args: {fail: "${ item == 2 ? 'boom' : '' }", output: "${ item * 10 }"}`),
	mapped("mapped_pauses", "", `
      type: pause`),
	caller, middle, leaf,
	"version: 1\nid: forked_all\nentry: f\nnodes:" + forkOf(", max_concurrency: 2", gives("a", "1", "{k: 1}"), "b: type: wait, for: 1s",
		"c: type: set, output: '${ run.steps_remaining }'", "d: run: act, args: {fail: boom}, on_error: {output: '${ error.type }'}") + plainJoin + "\n",
	localGraph("local_shape", "a", "\n  - {id: a, run: act, "+local+"args: {fail: boom, until: 1}, retry: {max_attempts: 2, backoff: 0s}, next: f}"+
		forkOf("", "b: run: act, "+local+"args: {output: 1}", "c: run: act", "d: run: act, "+local+"args: {output: 2}")+
		"\n  - {id: j, type: join, run: act, "+local+"args: {output: '${ input }'}, next: s}"),
	"version: 1\nid: forked_any\nentry: f\nnodes:" + forkOf(", join_policy: any", "a: type: wait, for: 1s", "b: run: block", "c: type: pause") + plainJoin + "\n",
	"version: 1\nid: forked_failing\nentry: f\nnodes:" + forkOf("", "a: run: act, args: {fail: boom}", "b: type: wait, for: 1h") + plainJoin + "\n",
	"version: 1\nid: forked_pauses\nentry: f\nnodes:" + forkOf("", gives("a", "1", "{}"), "b: type: pause", "c: run: act, args: {control: pause, delta: {k: 1}}") + plainJoin + "\n",
}

// C14: every shape of history ever recorded must replay with today's code: runs
// wait for people for months, and meet the workers of another release. The name of
// a subtest says which version's runs would be stuck.
func TestRecordedHistories(t *testing.T) {
	t.Parallel()
	if *update {
		record(t)
	}
	if *release {
		require.NoError(t, historytest.Release(histories, activities.Core))
	}
	corpus, err := historytest.Corpus(histories)
	require.NoError(t, err)
	for _, kept := range corpus {
		t.Run(kept.String(), func(t *testing.T) {
			t.Parallel()
			recording := historytest.Load(t, kept.Path)
			historytest.Replay(t, recording, registerReplay)
			requireCore(t, kept, recording)
		})
	}
	for _, s := range allShapes() {
		for _, name := range s.names() {
			require.True(t, recorded(name), "%s is not recorded: make histories", name)
		}
	}
	requireDifferenceSeen(t)
}

// requireCore makes sure that a recording lies with those of its version: of runs that
// today's code would begin otherwise, one must be left that has begun as it did then.
func requireCore(t *testing.T, kept historytest.Kept, recording historytest.Recording) {
	t.Helper()
	want := kept.Core
	if want == 0 {
		want = activities.Core
	}
	if core := coreOf(t, recording.History); core != 0 {
		require.Equal(t, want, core, "a recording of core %d lies with those of core %d; release those that there are before you raise the core: make histories-release", core, want)
	}
}

// coreOf is the version that a run is bound to; 0 for one that was refused, and for
// what is no run of a graph.
func coreOf(t *testing.T, history *historypb.History) int {
	t.Helper()
	for _, event := range history.GetEvents() {
		details := event.GetMarkerRecordedEventAttributes().GetDetails()
		if data := details["data"].GetPayloads(); len(data) == 0 || !strings.Contains(string(data[0].GetData()), `"`+activities.NamePin+`"`) {
			continue
		}
		var pin activities.Pin
		require.NoError(t, json.Unmarshal(details["result"].GetPayloads()[0].GetData(), &pin))
		return pin.Core
	}
	return 0
}

// requireDifferenceSeen makes sure that a changed history does not replay, or
// the test would pass for ever.
func requireDifferenceSeen(t *testing.T) {
	t.Helper()
	recording := historytest.Load(t, recordingOf("linear"))
	for _, event := range recording.History.Events {
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled != nil && scheduled.ActivityId == "c#1" {
			scheduled.ActivityId = "x#1"
		}
	}
	require.Error(t, historytest.TryReplay(recording, worker.WorkflowReplayerOptions{}, registerReplay))
}

func registerReplay(r worker.WorkflowReplayer) {
	r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
	registerAdmission(r)
}

// record runs every shape that has no recording, and keeps its history. What
// another release wrote is not written again.
func record(t *testing.T) {
	t.Helper()
	acts := newScript()
	documents := append([]string{
		linear, approval, rounds, actionPause, impatient, clockTick, ship, cancelled, waiting, working, closings, longLoop,
	}, slices.Concat(shapeGraphs, forkShapeGraphs(), moreShapeGraphs())...)
	w := setup(t, parts{graphs: documents, register: func(r *activities.Registry) {
		registerAdd(r)
		registerBeat(r)
		registerBlock(r)
		registerFill(r)
		registerShapeCallbacks(r)
		acts.register(r)
	}, edit: func(o *activities.Options) {
		o.Limits = graph.Limits{Payload: 100_000, State: 100_000} // what is too large is small enough to be kept
	}, foreign: func(r worker.Registry) {
		r.RegisterActivityWithOptions(func(context.Context, any) (string, error) { return "foreign", nil }, activity.RegisterOptions{Name: "Foreign"})
	}})
	for _, s := range allShapes() {
		if !slices.ContainsFunc(s.names(), func(name string) bool { return !recorded(name) }) {
			continue
		}
		run := w.run(s.graph, json.RawMessage(s.input))
		if s.act != nil {
			s.act(w, run)
		}
		if !s.open {
			temporaltest.Wait(t, time.Minute, s.name+" to close", func() bool {
				return w.closed(run) != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			})
		}
		w.record(run, s.name)
		if s.child != "" {
			w.record(w.child(run, s.child), s.name+"_below")
		}
	}
}

// recordingOf is where a shape is recorded: with those of today's version that were
// released, or else above them.
func recordingOf(name string) string {
	released := filepath.Join(histories, fmt.Sprintf("core-%d", activities.Core), name+".json")
	if _, err := os.Stat(released); err == nil {
		return released
	}
	return filepath.Join(histories, name+".json")
}

func recorded(name string) bool {
	_, err := os.Stat(recordingOf(name))
	return err == nil
}

// record keeps the history of a run.
func (w *world) record(run client.WorkflowRun, name string) {
	w.tb.Helper()
	recording := historytest.Record(w.tb, w.client, run.GetID(), run.GetRunID())
	anonymous(recording)
	historytest.Save(w.tb, recordingOf(name), recording)
}

// anonymous takes out of a recording what names the machine it was made on.
func anonymous(recording historytest.Recording) {
	for _, event := range recording.History.GetEvents() {
		scheduled := event.GetWorkflowTaskScheduledEventAttributes()
		if scheduled.GetTaskQueue().GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
			scheduled.TaskQueue.Name = "sticky"
		}
	}
}
