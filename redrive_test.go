package tidemill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// mill counts the calls of its one action by run and name, and can be told how the
// action behaves for a run.
type mill struct {
	mu    sync.Mutex
	calls map[string]map[string]int // by workflow id of the outermost run
	moods map[string]map[string]string
}

type millArgs struct{ Name string }

func newMill() *mill {
	return &mill{calls: map[string]map[string]int{}, moods: map[string]map[string]string{}}
}

// set makes the action z of a run fail ("broken") or hang ("hangs"); "" mends it.
func (m *mill) set(run, mood string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moods[run] == nil {
		m.moods[run] = map[string]string{}
	}
	m.moods[run]["z"] = mood
}

// called is how often each name was called since it was last asked.
func (m *mill) called(run string) map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls[run]
	delete(m.calls, run)
	return calls
}

func (m *mill) has(run, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[run][name] > 0
}

func (m *mill) work(ctx context.Context, args millArgs) (string, error) {
	run, _, _ := strings.Cut(tidemill.Info(ctx).ID, "/")
	m.mu.Lock()
	if m.calls[run] == nil {
		m.calls[run] = map[string]int{}
	}
	m.calls[run][args.Name]++
	mood := m.moods[run][args.Name]
	m.mu.Unlock()
	switch mood {
	case "broken":
		return "", tidemill.NewError("out_of_order", args.Name+" is out of order")
	case "hangs":
		<-ctx.Done()
		return "", ctx.Err()
	}
	return args.Name, nil
}

const (
	wheel = `
version: 1
id: wheel
entry: a
nodes:
  - {id: a, run: work, args: {name: a}, next: each}
  - {id: each, type: map, items: [1, 2, 3], key: "${ 'no. ' + string(item) }", item: {run: work, args: {name: "${ 'i' + string(item) }"}}, next: both}
  - {id: both, type: fork, branches: [left, right], join: joined}
  - {id: left, run: work, args: {name: left}, next: joined}
  - {id: right, run: work, args: {name: right}, next: joined}
  - {id: joined, type: join, next: inner}
  - {id: inner, type: workflow, workflow: part, next: z}
  - {id: z, run: work, args: {name: z}, next: end}
`
	part = `
version: 1
id: part
entry: b
nodes:
  - {id: b, run: work, args: {name: b}, next: c}
  - {id: c, run: work, args: {name: c}, next: end}
`
	wheelSteps = 6 // without the last: a, each, left, right, joined, inner
)

// setupMill starts a worker that takes specs.
func setupMill(t *testing.T, m *mill, documents ...string) world {
	t.Helper()
	app := tidemill.NewApp()
	tidemill.Action(app, "work", m.work)
	for i, document := range documents {
		app.AddGraph(fmt.Sprintf("%d.yaml", i), []byte(document))
	}
	return setup(t, app, func(o *tidemill.WorkerOptions) { o.InlineSpecs = true })
}

// ending is a way in which the wheel ends at its last node.
type ending struct {
	name    string
	mood    string // of the last node
	options tidemill.StartOptions
	stop    func(t *testing.T, w world, id string) // once the last node is called
	status  graph.Status
}

func endings() []ending {
	return []ending{
		{name: "timed out", mood: "hangs", options: tidemill.StartOptions{Deadline: 25 * time.Second}, status: graph.StatusTimedOut},
		{name: "cancelled", mood: "hangs", status: graph.StatusCancelled, stop: func(t *testing.T, w world, id string) {
			t.Helper()
			require.NoError(t, w.runs.Cancel(t.Context(), id, ""))
		}},
		{name: "terminated", mood: "hangs", status: graph.StatusFailed, stop: func(t *testing.T, w world, id string) {
			t.Helper()
			require.NoError(t, w.client.TerminateWorkflow(t.Context(), id, "", "no longer wanted"))
		}},
		{name: "failed", mood: "broken", status: graph.StatusFailed},
		{name: "budget", options: tidemill.StartOptions{MaxSteps: wheelSteps}, status: graph.StatusFailed},
		{name: "completed", status: graph.StatusCompleted},
	}
}

// redrives are what is asked of a wheel that has ended, and what is called then.
func redrives() map[string]struct {
	options tidemill.RedriveOptions
	calls   string
} {
	spec := []byte(strings.ReplaceAll(wheel, "{name: z}", "{name: other}"))
	return map[string]struct {
		options tidemill.RedriveOptions
		calls   string
	}{
		"last":         {calls: "z"},
		"from":         {tidemill.RedriveOptions{From: "inner#1"}, "b c z"},
		"all":          {tidemill.RedriveOptions{From: "a#1"}, "a i1 i2 i3 left right b c z"},
		"spec":         {tidemill.RedriveOptions{Spec: spec}, "other"},
		"from in spec": {tidemill.RedriveOptions{Spec: spec, From: "inner#1/c#1"}, "c other"},
		"child":        {tidemill.RedriveOptions{From: "inner#1/c#1"}, "c z"},
		"item":         {tidemill.RedriveOptions{From: "each#1/1"}, "i2 left right b c z"},
		"item by key":  {tidemill.RedriveOptions{From: "each#1/no. 2"}, "i2 left right b c z"},
		"branch":       {tidemill.RedriveOptions{From: "right#1"}, "right b c z"},
		"exported":     {calls: "z"},
	}
}

// ended starts a run of the wheel, and has it end.
func (e ending) ended(t *testing.T, w world, m *mill, id string) {
	t.Helper()
	m.set(id, e.mood)
	e.options.ID, e.options.Graph = id, "wheel"
	_, err := w.runs.Start(t.Context(), e.options)
	require.NoError(t, err)
}

// Whatever a run ended with, and wherever it is to go on, nothing that has committed
// before that may be called again, and everything behind it must be.
func TestRedriveMatrix(t *testing.T) {
	t.Parallel()
	m := newMill()
	w := setupMill(t, m, wheel, part)
	id := func(e ending, kind string) string {
		return strings.ReplaceAll(w.queue+"-"+e.name+"-"+kind, " ", "_")
	}
	for _, e := range endings() {
		for kind := range redrives() {
			e.ended(t, w, m, id(e, kind))
		}
	}
	for _, e := range endings() {
		for kind := range redrives() {
			if e.stop != nil {
				temporaltest.Wait(t, within, "the last node", func() bool { return m.has(id(e, kind), "z") })
				e.stop(t, w, id(e, kind))
			}
		}
	}
	for _, e := range endings() {
		for kind, asked := range redrives() {
			t.Run(e.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				id := id(e, kind)
				report, err := w.runs.Await(t.Context(), id, tidemill.AwaitOptions{})
				require.NoError(t, err)
				require.Equal(t, e.status, report.Status, report.Error)
				m.called(id)
				m.set(id, "")
				earlier := report.RunID

				o := asked.options
				if kind == "exported" {
					o.Export = export(t, w, id)
				}
				if e.name == "budget" {
					if o.From == "" {
						_, err = w.runs.Redrive(t.Context(), id, o)
						require.Equal(t, graph.ErrTypeBudgetExhausted, tidemill.ErrorType(err), err)
					}
					o.MaxSteps = 100
				}
				redriven, err := w.runs.Redrive(t.Context(), id, o)
				if e.name == "completed" && o.From == "" {
					require.Equal(t, graph.ErrTypeCheckpointComplete, tidemill.ErrorType(err), err)
					return
				}
				require.NoError(t, err)
				report, err = w.runs.Await(t.Context(), id, tidemill.AwaitOptions{RunID: redriven.RunID})
				require.NoError(t, err)
				require.Equal(t, graph.StatusCompleted, report.Status, report.Error)
				require.Equal(t, earlier, report.RedriveOf)
				require.Equal(t, counts(asked.calls), m.called(id))
			})
		}
	}
}

// counts is one call of each name.
func counts(names string) map[string]int {
	all := map[string]int{}
	for name := range strings.FieldsSeq(names) {
		all[name] = 1
	}
	return all
}

// export takes a run as data and deletes it.
func export(t *testing.T, w world, id string) json.RawMessage {
	t.Helper()
	e, err := w.runs.Checkpoint(t.Context(), id, tidemill.CheckpointOptions{Deep: true})
	require.NoError(t, err)
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	_, err = w.client.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: devserver.DefaultNamespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id},
	})
	require.NoError(t, err)
	temporaltest.Wait(t, within, "the run to be forgotten", func() bool {
		_, err := w.client.DescribeWorkflow(t.Context(), id, "")
		return err != nil
	})
	return raw
}

// A map with a run of its own knows its items by their keys as well.
func TestRedriveOfALongMapByKey(t *testing.T) {
	t.Parallel()
	m := newMill()
	const items = graph.MaxInlineItems + 1
	w := setupMill(t, m, `
version: 1
id: long
entry: each
nodes:
  - {id: each, type: map, items: "${ state.list }", key: "${ 'no. ' + string(item) }", item: {run: work, mode: local, idempotent: true, timeout: 1s, args: {name: "${ 'i' + string(item) }"}}, next: z}
  - {id: z, run: work, args: {name: z}, next: end}
`)
	id := w.queue
	m.set(id, "broken")
	list := make([]int, items)
	for i := range list {
		list[i] = i
	}
	input, err := json.Marshal(map[string]any{"list": list})
	require.NoError(t, err)
	_, err = w.runs.Start(t.Context(), tidemill.StartOptions{ID: id, Graph: "long", Input: json.RawMessage(input)})
	require.NoError(t, err)
	report, err := w.runs.Await(t.Context(), id, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, graph.StatusFailed, report.Status)
	require.Len(t, m.called(id), items+1)
	m.set(id, "")
	redriven, err := w.runs.Redrive(t.Context(), id, tidemill.RedriveOptions{From: "each#1/no. 200"})
	require.NoError(t, err)
	require.Equal(t, graph.Address("each#1/200"), redriven.Plan.From)
	report, err = w.runs.Await(t.Context(), id, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, graph.StatusCompleted, report.Status)
	require.Equal(t, map[string]int{"i200": 1, "z": 1}, m.called(id))
}
