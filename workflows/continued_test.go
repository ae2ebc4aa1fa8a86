package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// The main stories, in which every run continues as new wherever it can, with the
// cache and without it: what a run does not hand on, nobody knows any more. Row 62 has
// too little running time for that, for between two runs lies up to a second.
func TestContinuedEverywhere(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		variables []string
		stories   []string
	}{
		"with the cache": {[]string{continueVariable + "=1"}, []string{
			"TestLinearGraph", "TestConformance", "TestPauseAnsweredBySignal", "TestPauseAnsweredByUpdate", "TestRefusedSignals",
			"TestPauseExpires", "TestTwoAnswersInOneTask", "TestChildRetried", "TestChildPauseAnsweredAbove",
			"TestPauseThreeLevelsDown", "TestNamedChildren", "TestCancelReachesChildren",
		}},
		"without the cache": {[]string{continueVariable + "=1", noCacheVariable + "=1"}, []string{
			"TestLinearGraph", "TestPauseAnsweredBySignal", "TestPauseAnsweredByUpdate", "TestRefusedSignals",
			"TestTwoAnswersInOneTask", "TestChildPauseAnsweredAbove", "TestPauseThreeLevelsDown",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stories := exec.CommandContext(t.Context(), self, "-test.v", "-test.count=1", "-test.skip", "/row_62",
				"-test.run", "^("+strings.Join(c.stories, "|")+")$")
			stories.Env = append(os.Environ(), c.variables...)
			out, err := stories.CombinedOutput()
			require.NoError(t, err, string(out))
			for _, name := range c.stories {
				require.Contains(t, string(out), "--- PASS: "+name)
			}
		})
	}
}

// continuing is what a worker is built from whose runs continue as new at a number of
// events.
func continuing(at int, acts *script, graphs ...string) parts {
	return parts{graphs: graphs, register: func(r *activities.Registry) {
		acts.register(r)
		registerBeat(r)
	}, edit: func(o *activities.Options) { o.ContinueAt = at }}
}

// chain is a run as people ask for it: by its id, whichever run of its chain is the
// last.
type chain struct{ client.WorkflowRun }

// GetRunID implements client.WorkflowRun.
func (chain) GetRunID() string { return "" }

func chainOf(run client.WorkflowRun) client.WorkflowRun { return chain{run} }

// runsOf are the run ids of a chain, from its first.
func (w *world) runsOf(run client.WorkflowRun) []string {
	w.tb.Helper()
	described, err := w.client.DescribeWorkflow(context.WithoutCancel(w.tb.Context()), run.GetID(), "")
	require.NoError(w.tb, err)
	var runs []string
	for id := described.WorkflowExecution.RunID; id != ""; {
		runs = slices.Insert(runs, 0, id)
		began := temporaltest.History(w.tb, w.client, run.GetID(), id).GetEvents()[0]
		id = began.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
	}
	return runs
}

// longLived are graphs that between them have everything that a run can have open or
// decided when it continues as new.
var longLived = []struct {
	name, text, input string
	once              bool // its calls come in one order
	answer            any
}{
	{name: "line", once: true, text: `
  - {id: a, run: act, args: {output: 1, delta: {a: 1}}, next: b}
  - {id: b, run: act, args: {output: "${ input + 1 }"}, next: c}
  - {id: c, run: act, args: {output: "${ [input, state.a] }"}, next: end}`},
	{name: "loop", once: true, input: `{"k":0}`, text: `
  - {id: a, type: loop, while: "state.k < 4", body: b, done: c, max_iterations: 9}
  - {id: b, run: act, args: {output: "${ state.k }", delta: {k: "${ state.k + 1 }"}}, next: a}
  - {id: c, type: set, output: "${ state }", next: end}`},
	{name: "fork", text: `
  - {id: a, type: fork, branches: [b, c, d], join: e, join_policy: collect}
  - {id: b, run: act, args: {output: 1}, next: e}
  - {id: c, run: act, args: {fail: boom}, next: e}
  - {id: d, type: pause, next: e}
  - {id: e, type: join, output: "${ [input.b.output, input.c.error.type, input.d.output] }", next: end}`, answer: "yes"},
	{name: "map", input: `{"list":[1,2,3,4,5]}`, text: `
  - id: a
    type: map
    items: "${ state.list }"
    max_concurrency: 2
    item: {run: act, args: {output: "${ item * 10 }"}}
    next: end`},
	{name: "child", once: true, text: `
  - {id: a, run: act, args: {output: A}, next: b}
  - {id: b, ` + inside(asksAndGoesOn) + `, next: c}
  - {id: c, run: act, args: {output: "${ [input, state] }"}, next: end}`, answer: true},
	{name: "expires", once: true, text: `
  - {id: a, run: act, next: b}
  - {id: b, type: pause, expires: 3s, on_expire: c, next: end}
  - {id: c, run: act, args: {output: late}, next: end}`},
	{name: "wait", once: true, text: `
  - {id: a, run: act, next: b}
  - {id: b, type: wait, for: 2s, next: c}
  - {id: c, run: act, args: {output: waited}, next: end}`},
	{name: "retry", once: true, text: `
  - {id: a, run: act, args: {output: 1}, next: b}
  - {id: b, run: act, args: {fail: boom, until: 2, output: done}, retry: {max_attempts: 3, backoff: 1s}, next: c}
  - {id: c, run: act, args: {output: "${ input }"}, next: end}`},
	{name: "local", once: true, text: `
  - {id: a, run: act, mode: local, idempotent: true, timeout: 1s, args: {output: 1}, next: b}
  - {id: b, run: act, mode: local, idempotent: true, timeout: 1s, args: {output: "${ input + 1 }"}, next: c}
  - {id: c, run: act, args: {output: "${ input + 1 }"}, next: end}`},
}

func longLivedGraphs() []string {
	texts := []string{}
	for _, g := range longLived {
		texts = append(texts, "version: 1\nid: "+g.name+"\nentry: a\nnodes:"+g.text+"\n")
	}
	return texts
}

// Wherever the border between two runs falls, a chain comes to the same end as a run
// that needs no other, by the same calls.
func TestContinuedAtEachEvent(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 12, 16, 21} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			acts, whole := newScript(), newScript()
			w := setup(t, continuing(at, acts, longLivedGraphs()...))
			undisturbed := setup(t, continuing(0, whole, longLivedGraphs()...))
			for _, g := range longLived {
				t.Run(g.name, func(t *testing.T) {
					t.Parallel()
					w, undisturbed := w.in(t), undisturbed.in(t)
					input := json.RawMessage(textOr(g.input, `{}`))
					run, alone := w.run(g.name, input), undisturbed.run(g.name, input)
					if g.answer != nil {
						for v, r := range map[*world]client.WorkflowRun{w: chainOf(run), undisturbed: alone} {
							v.until(r, "a pause", func(r graph.Report) bool { return len(r.Pauses) == 1 })
							v.signal(r, workflows.SignalResume, g.answer)
						}
					}
					require.JSONEq(t, undisturbed.output(alone), w.output(run))
					want, got := whole.calledBelow(alone.GetID()), acts.calledBelow(run.GetID())
					if !g.once {
						slices.Sort(want)
						slices.Sort(got)
					}
					require.Equal(t, want, got)
					if at == 1 {
						require.Greater(t, len(w.runsOf(run)), 1)
					}
					require.Len(t, undisturbed.runsOf(alone), 1)
				})
			}
		})
	}
}

func textOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// Who looks at a chain sees one run: since when it runs, what it was started with and
// until when it may run stay, and so do the names by which people find it.
func TestChainIsOneRun(t *testing.T) {
	t.Parallel()
	acts := newScript()
	text := `
version: 1
id: long_story
entry: a
deadline: 1h
nodes:
  - {id: a, run: act, next: b}
  - {id: b, run: act, args: {output: "${ run.lane.session }", delta: {key: "${ run.key }"}}, next: c}
  - {id: c, type: pause, expires: 2h, on_expire: end, next: end}
`
	w := setup(t, continuing(1, acts, text))
	run := w.runWith(client.StartWorkflowOptions{Memo: map[string]any{"memo": 1}}, "long_story", map[string]int{"input": 1})
	chain := chainOf(run)
	report := w.paused(chain)
	require.Greater(t, len(w.runsOf(run)), 2)
	first, err := w.client.DescribeWorkflow(t.Context(), run.GetID(), run.GetRunID())
	require.NoError(t, err)
	require.WithinDuration(t, first.WorkflowStartTime, report.Started, time.Millisecond)
	require.JSONEq(t, `{"input":1,"key":"`+run.GetRunID()+`/b#1"}`, string(report.State), "its keys are those of the first run")
	require.Equal(t, `"`+run.GetRunID()+`"`, string(w.checkpoint(chain).Activations[0].Input), "a session of its own is that of the first run")
	require.Nil(t, report.Deadline, "its clock stands still")
	require.InDelta(t, time.Hour.Seconds(), w.checkpoint(chain).Clock.Left.Std().Seconds(), 30)
	require.WithinDuration(t, report.Started.Add(2*time.Hour), *report.Pauses[0].Expires, 30*time.Second)
	require.Contains(t, w.details(chain), "c#1")
	require.Contains(t, w.details(chain), fmt.Sprintf("run %d of its chain", len(w.runsOf(run))))

	last, err := w.client.DescribeWorkflow(t.Context(), run.GetID(), "")
	require.NoError(t, err)
	require.NotEqual(t, run.GetRunID(), last.WorkflowExecution.RunID)
	require.Equal(t, "1", string(last.Memo.GetFields()["memo"].GetData()))
	require.Contains(t, last.RawResponse.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields(), activities.AttributeWaiting)
	w.signal(chain, workflows.SignalResume, 1)
	w.output(run)
}

// An update whose caller has not heard its result is sent again, perhaps to the next
// run, of which the server knows no update.
func TestUpdateAgainInTheNextRun(t *testing.T) {
	t.Parallel()
	w := setup(t, continuing(1, newScript(), rounds))
	run := w.run("rounds")
	chain := chainOf(run)
	w.round(chain, "ask#1", 0)
	answer := func(id, text string) workflows.ResumeResult {
		handle, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			UpdateID: id, WorkflowID: run.GetID(), UpdateName: workflows.UpdateResume,
			Args: []any{workflows.ResumeInput{Input: json.RawMessage(text)}}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		require.NoError(t, err)
		var result workflows.ResumeResult
		require.NoError(t, handle.Get(t.Context(), &result))
		return result
	}
	require.Equal(t, graph.Address("ask#1"), answer("mine", `"first"`).PauseID)
	for range 3 {
		before := len(w.runsOf(run))
		w.signal(chain, "nonsense", 1) // has the run look about
		w.round(chain, "ask#2", w.status(chain).Rejected.Count)
		require.Equal(t, graph.Address("ask#1"), answer("mine", `"first"`).PauseID, "in run %d", before)
	}
	require.Equal(t, graph.Address("ask#2"), answer("another", `"second"`).PauseID)
	require.JSONEq(t, `{"answers":["first","second"]}`, w.output(run))
	require.Greater(t, len(w.runsOf(run)), 1)
}

// Signals that arrive while a run continues as new are all acted on: unread ones would
// vanish with the run that has them (faults C1 and C5).
func TestSignalsWhileContinuing(t *testing.T) {
	t.Parallel()
	text := "version: 1\nid: five\nentry: a\nnodes:\n  - {id: a, type: fork, branches: [b, c, d, e, f], join: j}\n" +
		"  - {id: b, type: pause, next: j}\n  - {id: c, type: pause, next: j}\n  - {id: d, type: pause, next: j}\n  - {id: e, type: pause, next: j}\n  - {id: f, type: pause, next: j}\n  - {id: j, type: join, next: end}\n"
	w := setup(t, continuing(1, newScript(), text))
	run := w.run("five")
	chain := chainOf(run)
	w.until(chain, "five pauses", func(r graph.Report) bool { return len(r.Pauses) == 5 })
	for i, branch := range []string{"b", "c", "d", "e", "f"} {
		w.signal(chain, workflows.SignalResumePrefix+branch+"#1", i)
		w.signal(chain, workflows.SignalResumePrefix+branch+"#1", 100) // twice acts once
	}
	require.JSONEq(t, `{"b":0,"c":1,"d":2,"e":3,"f":4}`, w.output(run))
}

// Updates that arrive while runs continue as new are answered, each once (faults C2,
// C3 and C4).
func TestUpdatesWhileContinuing(t *testing.T) {
	t.Parallel()
	text := strings.Replace(rounds, "max_iterations: 2", "max_iterations: 12", 1)
	w := setup(t, continuing(1, newScript(), text))
	run := w.run("rounds")
	for i := range 12 {
		temporaltest.Wait(t, 30*time.Second, "an answer to be taken", func() bool {
			handle, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
				UpdateID: fmt.Sprint("answer ", i), WorkflowID: run.GetID(), UpdateName: workflows.UpdateResume,
				Args: []any{workflows.ResumeInput{PauseID: graph.Address(fmt.Sprintf("ask#%d", i+1)), Input: json.RawMessage(fmt.Sprint(i))}},

				WaitForStage: client.WorkflowUpdateStageCompleted,
			})
			return err == nil && handle.Get(t.Context(), nil) == nil
		})
	}
	require.JSONEq(t, `{"answers":[0,1,2,3,4,5,6,7,8,9,10,11]}`, w.output(run))
	require.Greater(t, len(w.runsOf(run)), 3)
}

// A cancel that falls between two runs reaches the chain, and so does the end of its
// budget of running time, which began with the first run.
func TestEndWhileContinuing(t *testing.T) {
	t.Parallel()
	const ticking = "version: 1\nid: ticking\nentry: a\nmax_steps: 100000\nnodes: [{id: a, type: wait, for: 1s, next: b}, {id: b, type: set, delta: {k: 1}, next: a}]\n"
	w := setup(t, continuing(1, newScript(), ticking))
	run := w.run("ticking")
	temporaltest.Wait(t, 30*time.Second, "a second run", func() bool { return len(w.runsOf(run)) > 1 })
	require.NoError(t, w.client.CancelWorkflow(t.Context(), run.GetID(), ""))
	kind, _ := w.failure(run)
	require.Equal(t, "cancelled", kind)

	timed := w.run("ticking", map[string]any{}, map[string]any{"deadline": "4s"})
	kind, report := w.failure(timed)
	require.Equal(t, graph.ErrTypeDeadlineExceeded, kind)
	require.Greater(t, len(w.runsOf(timed)), 1)
	require.WithinDuration(t, report.Started.Add(4*time.Second), *report.Finished, 3*time.Second)
}

// A run that is to continue as new and cannot yet shows what it waits for.
func TestDrainingRunSaysSo(t *testing.T) {
	t.Parallel()
	text := mapped("slow", "\n    max_concurrency: 2", "\n      run: hold\n      args: {k: \"${ item }\"}")
	gate := make(chan struct{})
	p := continuing(14, newScript(), text)
	p.register = func(r *activities.Registry) { registerGate(r, "hold", gate) }
	w := setup(t, p)
	run := w.run("slow", listOf(6))
	chain := chainOf(run)
	held := w.until(chain, "items to be held back", func(r graph.Report) bool { return len(r.Waiting) > 0 })
	require.Contains(t, held.Waiting[0].Reason, "continues as new first")
	require.Contains(t, w.details(chain), "continue as new: its history is long, and nothing new starts until what is running has ended (1 activities)")
	close(gate)
	require.JSONEq(t, `[0,1,2,3,4,5]`, w.output(run))
	require.Greater(t, len(w.runsOf(run)), 1)
}

// A run whose next one would be given more than the server takes goes on by itself: to
// ask for it would be the end of the chain.
func TestTooLargeToContinue(t *testing.T) {
	t.Parallel()
	p := continuing(1, newScript(), `
version: 1
id: heavy
entry: a
nodes:
  - {id: a, run: act, args: {delta: {text: "${ state.half + state.half }"}}, next: b}
  - {id: b, run: act, args: {output: 1}, next: c}
  - {id: c, type: pause, next: d}
  - {id: d, type: set, output: "${ size(state.text) }", next: end}
`)
	edit := p.edit
	p.edit = func(o *activities.Options) {
		edit(o)
		o.Limits = graph.Limits{Payload: 1900 << 10, State: 1900 << 10}
	}
	w := setup(t, p)
	run := w.run("heavy", map[string]string{"half": strings.Repeat("x", 480<<10)})
	chain := chainOf(run)
	w.paused(chain)
	require.Contains(t, w.details(chain), "bytes, and at most 1398101 are safe")
	w.signal(chain, workflows.SignalResume, 1)
	require.Equal(t, fmt.Sprint(960<<10), w.output(run))
	for _, id := range w.runsOf(run) {
		described, err := w.client.DescribeWorkflow(t.Context(), run.GetID(), id)
		require.NoError(t, err)
		require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, described.Status)
	}
}
