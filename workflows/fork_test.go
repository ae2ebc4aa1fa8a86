package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// forkOf is a fork f of branches with further fields, "id: fields" each, that
// ends at the join j and the node s, which shows what the join gave.
func forkOf(fields string, branches ...string) string {
	var ids []string
	var nodes strings.Builder
	for _, branch := range branches {
		id, text, _ := strings.Cut(branch, ": ")
		ids = append(ids, id)
		fmt.Fprintf(&nodes, "\n  - {id: %s, %s, next: j}", id, text)
	}
	return fmt.Sprintf("\n  - {id: f, type: fork, branches: [%s], join: j%s}%s\n  - {id: s, type: set, output: \"${ input }\", next: end}",
		strings.Join(ids, ", "), fields, nodes.String())
}

const plainJoin = "\n  - {id: j, type: join, next: s}"

// gives is a branch that gives an output and a delta.
func gives(id, output, delta string) string {
	return fmt.Sprintf("%s: run: act, args: {output: %s, delta: %s}", id, output, delta)
}

// forkScenarios are the numbered rules of forks, seen from outside.
func forkScenarios() []scenario {
	const fails = "run: act, args: {fail: boom}"
	return []scenario{
		{
			name:   "row 47, the branch declared later wins, though it was first",
			nodes:  forkOf(", merge: ordered_last_wins", "a: run: act, args: {fail: late, until: 1, output: 1, delta: {w: a}}, retry: {max_attempts: 2, backoff: 500ms}", gives("b", "2", "{w: b}")) + plainJoin,
			output: `{"a":1,"b":2}`, state: `{"w":"b"}`,
		},
		{
			name:   "row 48, a join that runs sees both deltas",
			nodes:  forkOf("", gives("a", "1", "{k: 1}"), gives("b", "2", "{l: 2}")) + "\n  - {id: j, run: act, type: join, args: {output: '${ [input.a, state.l] }', delta: {joined: true}}, next: s}",
			output: `[1,2]`, state: `{"joined":true,"k":1,"l":2}`,
		},
		{
			name:    "row 49, one key, two values",
			nodes:   forkOf("", gives("a", "1", "{k: 1}"), gives("b", "2", "{k: 2}")) + plainJoin,
			failure: graph.ErrTypeForkMergeFailed, state: `{}`,
		},
		{
			name:   "row 56, stop is the branch's output",
			nodes:  forkOf("", "a: run: act, args: {control: stop, output: 1}", gives("b", "2", "{}")) + plainJoin,
			output: `{"a":1,"b":2}`,
		},
		{
			name:    "row 58, a branch cannot route",
			nodes:   forkOf("", "a: run: act, args: {control: route, target: j}", "b: type: set, output: 2") + plainJoin,
			failure: graph.ErrTypeForkBranchFailed,
		},
		{
			name:    "row 59, a failure stops its siblings",
			nodes:   forkOf("", "a: run: block", "b: "+fails) + plainJoin,
			failure: graph.ErrTypeForkBranchFailed,
		},
		{
			name:   "row 64, a join that says ok leaves the run's output",
			nodes:  forkOf("", gives("a", "1", "{}"), "b: run: act, args: {control: ok}") + "\n  - {id: j, type: join, run: act, args: {control: ok}, next: end}",
			output: `{"a":1,"b":null}`,
		},
		{
			name:   "row 66, any, one at a time",
			nodes:  forkOf(", join_policy: any, max_concurrency: 1", gives("a", "1", "{}"), "b: "+fails) + plainJoin,
			output: `{"a":1}`,
		},
		{
			name:   "row 68, a quorum cancels the rest and awaits it",
			nodes:  forkOf(", join_policy: {quorum: 2}", gives("a", "1", "{}"), gives("b", "2", "{}"), "c: run: block") + plainJoin,
			output: `{"a":1,"b":2}`,
		},
		{
			name:   "row 69, the first success, one at a time",
			nodes:  forkOf(", join_policy: first_success, max_concurrency: 1", "a: "+fails, gives("b", "2", "{}"), gives("c", "3", "{}")) + plainJoin,
			output: `{"b":2}`,
		},
		{
			name:    "row 70, nobody succeeds",
			nodes:   forkOf(", join_policy: first_success", "a: "+fails, "b: "+fails) + plainJoin,
			failure: graph.ErrTypeForkJoinUnsatisfied,
		},
		{
			name:   "row 73, an input that does not fit is the branch's failure",
			nodes:  forkOf(", join_policy: first_success", "a: run: act, input_schema: {type: integer}", gives("b", "2", "{}")) + plainJoin,
			output: `{"b":2}`,
		},
		{
			name: "a callback merges, and branches of every kind",
			nodes: forkOf(", merge: {call: merge}", "a: type: set, output: '${ run.node }', delta: {k: 1}", "b: type: wait, for: 1s",
				"c: run: act, args: {fail: boom}, on_error: {output: '${ error.type }', delta: {k: 3}}") + plainJoin,
			output: `{"a":"a","b":{},"c":"action_exception"}`, state: `{"a":{"k":1},"b":{},"c":{"k":3}}`,
		},
		{
			name:   "an answer of a branch is its output",
			nodes:  forkOf("", gives("a", "1", "{}"), "b: run: act, args: {control: pause, delta: {asked: true}}") + plainJoin,
			answer: `{"yes":true}`,
			output: `{"a":1,"b":{"yes":true}}`, state: `{"asked":true}`,
		},
	}
}

// The rules of forks must hold with real activities and a real server, where
// branches end in any order.
func TestForks(t *testing.T) {
	t.Parallel()
	scenarios := forkScenarios()
	documents := make([]string, len(scenarios))
	for i, s := range scenarios {
		documents[i] = s.document(i)
	}
	w := setup(t, parts{graphs: documents, register: func(r *activities.Registry) {
		newScript().register(r)
		registerBlock(r)
		activities.RegisterCallback(r, "merge", 1, mergeByID)
	}})
	runs := make([]client.WorkflowRun, len(scenarios))
	for i, s := range scenarios { // all at once; they do not share anything
		runs[i] = w.run(s.id(i), s.arguments()...)
	}
	for i, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			if s.answer != "" {
				w.paused(runs[i])
				w.signal(runs[i], workflows.SignalResume, json.RawMessage(s.answer))
			}
			s.check(t, w, runs[i])
		})
	}
}

// registerBlock adds an action that goes on until it is asked to stop.
func registerBlock(r *activities.Registry) {
	activities.Register(r, "block", func(ctx context.Context, _ struct{}) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
}

// mergeByID puts the delta of each branch under the branch's id.
func mergeByID(s activities.Scope) (map[string]any, error) {
	var branches []struct {
		ID    string         `json:"id"`
		Delta map[string]any `json:"delta"`
	}
	if err := s.Input(&branches); err != nil {
		return nil, err
	}
	merged := map[string]any{}
	for _, b := range branches {
		merged[b.ID] = b.Delta
	}
	return merged, nil
}

// A fork of fifty remote actions must cost what fifty actions cost: three
// events each besides workflow tasks, all scheduled in one task.
func TestForkOfFifty(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 50 {
		branches = append(branches, gives(fmt.Sprintf("b%02d", i), fmt.Sprint(i), fmt.Sprintf("{k%d: %d}", i, i)))
	}
	doc := "version: 1\nid: fifty\nentry: f\nnodes:" + forkOf("", branches...) + "\n  - {id: j, type: join, next: end}\n"
	doc = strings.Replace(doc, "\n  - {id: s, type: set, output: \"${ input }\", next: end}", "", 1)
	w := setup(t, parts{graphs: []string{doc}, register: newScript().register})
	run := w.run("fifty")
	require.Contains(t, w.output(run), `"b49":49`)
	history := w.history(run)
	tasks := temporaltest.Count(history, enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)
	require.Equal(t, 50, temporaltest.Count(history, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
	require.Len(t, history.GetEvents(), 3+3*50+3*tasks, "start, pin, three an action, tasks, close")
}

// Branches whose tasks together are more than one workflow task may hold are
// scheduled in instalments; the run is neither stuck nor ended by the server.
func TestForkInInstalments(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 12 {
		branches = append(branches, fmt.Sprintf("b%02d: run: length, args: {text: '${ state.text }'}", i))
	}
	doc := "version: 1\nid: instalments\nentry: f\nnodes:" + forkOf("", branches...) + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}, register: func(r *activities.Registry) {
		activities.Register(r, "length", func(_ context.Context, in struct{ Text string }) (int, error) { return len(in.Text), nil })
	}})
	run := w.run("instalments", map[string]string{"text": strings.Repeat("y", 300_000)})
	require.Contains(t, w.output(run), `"b11":300000`)
	scheduled := temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
	require.Greater(t, scheduled, 12, "flushes stand between the instalments")
}

// B4, B5, B24 on a server: many pauses at once, of which the attribute lists
// twenty; each is answered under its own id, and what is open when the quorum is
// reached closes as expired.
func TestForkOfManyPauses(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 25 {
		branches = append(branches, fmt.Sprintf("p%02d: type: pause, resume_schema: {type: integer}", i))
	}
	doc := "version: 1\nid: pauses\nentry: f\nnodes:" + forkOf(", join_policy: {quorum: 2}", branches...) + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	run := w.run("pauses")
	report := w.paused(run)
	require.Len(t, report.Pauses, 25)
	described, err := w.client.DescribeWorkflow(t.Context(), run.GetID(), run.GetRunID())
	require.NoError(t, err)
	waiting, ok := described.TypedSearchAttributes.GetKeywordList(temporal.NewSearchAttributeKeyKeywordList(activities.AttributeWaiting))
	require.True(t, ok)
	require.Len(t, waiting, 21)
	require.Contains(t, waiting, "+5")
	require.LessOrEqual(t, len(w.details(run)), 3000)

	_, err = w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`1`)})
	require.Equal(t, graph.ErrTypePauseAmbiguous, refusalType(t, err))
	w.signal(run, workflows.SignalResume, 1)
	w.until(run, "the plain signal to be refused", func(r graph.Report) bool { return r.Rejected.Count == 1 })
	w.signal(run, workflows.SignalResumePrefix+"p07#1", 7)
	_, err = w.resume(run, workflows.ResumeInput{PauseID: "p03#1", Input: json.RawMessage(`3`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"p03":3,"p07":7}`, w.output(run))
	closed := map[graph.PauseClosed]int{}
	for _, answer := range w.checkpoint(run).Answers {
		closed[answer.Closed]++
	}
	require.Equal(t, map[graph.PauseClosed]int{graph.ClosedAnswered: 2, graph.ClosedExpired: 23}, closed)
}

// A14, D10: a cancel in the middle of a fork reaches every branch, whatever it
// is busy with, and what had ended is kept in the checkpoint.
func TestForkCancelled(t *testing.T) {
	t.Parallel()
	doc := "version: 1\nid: stopped\nentry: f\nnodes:" + forkOf("", gives("a", "1", "{k: 1}"), "b: run: block", "c: run: block",
		"d: type: wait, for: 1h", "e: type: pause, expires: 1h", "g: run: act, args: {fail: boom}, retry: {max_attempts: 2, backoff: 1h, max_backoff: 1h}") + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}, register: func(r *activities.Registry) {
		newScript().register(r)
		registerBlock(r)
	}})
	run := w.run("stopped")
	w.until(run, "a to have ended", func(r graph.Report) bool {
		return len(r.Pauses) == 1 && strings.Contains(string(forkedBranches(w, run)), `"id":"a","status":"completed"`)
	})
	w.cancel(run)
	kind, report := w.failure(run)
	require.Equal(t, "cancelled", kind)
	require.Equal(t, graph.StatusCancelled, report.Status)
	require.JSONEq(t, `{}`, string(report.State))
	require.Equal(t, 3, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED), "both blocked branches, and the backoff")
	require.Empty(t, w.openTimers(run))
}

// forkedBranches are the branches of the open fork, as the checkpoint has them.
func forkedBranches(w *world, run client.WorkflowRun) json.RawMessage {
	for _, a := range w.checkpoint(run).Activations {
		if a.Branches != nil {
			raw, err := json.Marshal(a.Branches)
			require.NoError(w.tb, err)
			return raw
		}
	}
	return nil
}

// The deadline's clock runs while one branch of a fork is paused and another is
// not, and stands still once all that is left are pauses.
func TestForkClock(t *testing.T) {
	t.Parallel()
	doc := "version: 1\nid: clock\nentry: f\ndeadline: 3s\nnodes:" + forkOf("", "a: type: pause", "b: type: wait, for: 1s") + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	run := w.run("clock")
	w.until(run, "the pause beside the wait", func(r graph.Report) bool { return len(r.Pauses) == 1 && r.Status == graph.StatusRunning })
	require.Nil(t, w.paused(run).Deadline)
	temporaltest.Wait(t, 10*time.Second, "longer than the deadline to pass", func() bool {
		return time.Since(w.status(run).Started) > 4*time.Second
	})
	w.signal(run, workflows.SignalResume, 1)
	require.JSONEq(t, `{"a":1,"b":{}}`, w.output(run))
}
