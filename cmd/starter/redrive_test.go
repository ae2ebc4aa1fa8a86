package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// shop is an action that counts its calls by name, and does not work while it is
// broken.
type shop struct {
	mu     sync.Mutex
	calls  map[string]int
	broken map[string]bool
}

type shopArgs struct{ Name string }

func newShop(broken ...string) *shop {
	s := &shop{calls: map[string]int{}, broken: map[string]bool{}}
	for _, name := range broken {
		s.broken[name] = true
	}
	return s
}

func (s *shop) work(_ context.Context, args shopArgs) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[args.Name]++
	if s.broken[args.Name] {
		return "", tidemill.NewError("out_of_order", args.Name+" is out of order")
	}
	return args.Name, nil
}

func (s *shop) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.broken)
}

// called is how often each name was called since it was last asked.
func (s *shop) called() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = map[string]int{}
	return calls
}

const six = `
version: 1
id: six
description: Six steps in a line.
entry: a
nodes:
  - {id: a, run: work, args: {name: a}, delta: {a: "${ result }"}, next: b}
  - {id: b, run: work, args: {name: b}, next: c}
  - {id: c, run: work, args: {name: c}, next: d}
  - {id: d, run: work, args: {name: d}, next: e}
  - {id: e, run: work, args: {name: e}, next: f}
  - {id: f, run: work, args: {name: f}, output: "${ state.a + result }", next: end}
`

// setupShop starts a worker that runs graphs over a shop.
func setupShop(t *testing.T, s *shop, documents ...string) world {
	t.Helper()
	app := tidemill.NewApp()
	tidemill.Action(app, "work", s.work)
	for i, document := range documents {
		app.AddGraph(string(rune('a'+i))+".yaml", []byte(document))
	}
	return setupApp(t, app)
}

// described is what the server shows of the latest run of an id.
func (w world) described(t *testing.T, id string) *workflowservice.DescribeWorkflowExecutionResponse {
	t.Helper()
	d, err := w.server.Client(t).DescribeWorkflow(t.Context(), id, "")
	require.NoError(t, err)
	return d.RawResponse
}

func decoded(t *testing.T, payload *common.Payload) string {
	t.Helper()
	var text string
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(payload, &text))
	return text
}

// A run that failed at the last of six nodes must not do the other five again, and
// whoever looks at the new run must find the old one.
func TestRedriveRepeatsOneNode(t *testing.T) {
	t.Parallel()
	s := newShop("f")
	w := setupShop(t, s, six)
	id := w.queue
	r := w.call(t, "run", "six", "--id", id, "--task-queue", w.queue, "--lane", "shop/mara/7", "--output", "json")
	require.Equal(t, exitFailed, r.code, r.err)
	old := r.document(t)["run_id"].(string)
	require.Len(t, s.called(), 6)

	r = w.call(t, "redrive", id, "--dry-run")
	require.Equal(t, exitCompleted, r.code, r.err)
	require.Contains(t, r.out, "redrive of  "+old+"\n")
	require.Regexp(t, `reused +e#1 +committed\nrepeated +f#1 +it failed: out_of_order\n`, r.out)
	require.Regexp(t, `deadline +none\n`, r.out)
	require.Empty(t, s.called(), "a dry run starts nothing")

	s.mend()
	r = w.call(t, "redrive", id, "--output", "json")
	require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
	document := r.document(t)
	require.Equal(t, map[string]int{"f": 1}, s.called())
	require.Equal(t, "af", document["output"])
	require.Equal(t, old, document["redrive_of"])
	require.NotEqual(t, old, document["run_id"])
	require.Contains(t, r.err, "repeated    f#1")

	info := w.described(t, id)
	require.Equal(t, old, decoded(t, info.GetWorkflowExecutionInfo().GetMemo().GetFields()[tidemill.MemoRedriveOf]))
	shown := info.GetExecutionConfig().GetUserMetadata()
	require.Contains(t, decoded(t, shown.GetSummary()), " · redrive · "+id)
	require.Contains(t, decoded(t, shown.GetDetails()),
		"[`"+old+"`](/namespaces/default/workflows/"+id+"/"+old+"/history), which ended as failed, `out_of_order`.")
	require.Contains(t, info.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields(), "TidemillGraph")
	require.Equal(t, w.queue, info.GetExecutionConfig().GetTaskQueue().GetName())
}

// A completed run has nothing left to do, but can be repeated from an address, which
// then has a key of its own.
func TestRedriveOfACompletedRun(t *testing.T) {
	t.Parallel()
	s := newShop()
	w := setupShop(t, s, six)
	id := w.queue
	require.Equal(t, exitCompleted, w.call(t, "run", "six", "--id", id, "--task-queue", w.queue).code)
	s.called()

	r := w.call(t, "redrive", id, "--output", "json")
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, graph.ErrTypeCheckpointComplete, r.problem(t).Type)
	require.Contains(t, r.problem(t).Message, "--from")

	r = w.call(t, "redrive", id, "--from", "d#1", "--output", "json")
	require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
	require.Equal(t, map[string]int{"d": 1, "e": 1, "f": 1}, s.called())

	r = w.call(t, "redrive", id, "--from", "d#2", "--dry-run", "--output", "json")
	require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
	require.Equal(t, "d#2", r.document(t)["from"])
	r = w.call(t, "redrive", id, "--from", "d#3", "--output", "json")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.problem(t).Message, "of d it has d#1 to d#2")
	r = w.call(t, "redrive", id, "--from", "dd#1", "--output", "json")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.problem(t).Message, "it has come to a#1, b#1, c#1, d#1 to d#2")
}

// An exported run must be as good as one that the server still has.
func TestRedriveOfADeletedRun(t *testing.T) {
	t.Parallel()
	s := newShop("f")
	w := setupShop(t, s, six)
	id := w.queue
	require.Equal(t, exitFailed, w.call(t, "run", "six", "--id", id, "--task-queue", w.queue, "--lane", "shop/mara/7").code)
	file := filepath.Join(t.TempDir(), "run.json")
	r := w.call(t, "checkpoint", id, "--deep")
	require.Equal(t, exitCompleted, r.code, r.err)
	require.NoError(t, os.WriteFile(file, []byte(r.out), 0o600))
	var export graph.Export
	require.NoError(t, json.Unmarshal([]byte(r.out), &export))
	w.forget(t, id)
	require.Equal(t, tidemill.ErrTypeNotFound, w.call(t, "redrive", id, "--output", "json").problem(t).Type)

	other := w.call(t, "redrive", "another", "--export", file, "--output", "json")
	require.Equal(t, exitUsage, other.code)
	require.Equal(t, graph.ErrTypeCheckpointWorkflow, other.problem(t).Type)

	s.called()
	s.mend()
	r = w.call(t, "redrive", id, "--export", file, "--output", "json")
	require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
	require.Equal(t, map[string]int{"f": 1}, s.called())
	require.Equal(t, export.RunID, r.document(t)["redrive_of"])
	require.Equal(t, tidemill.Lane{App: "shop", User: "mara", Session: "7"}, export.Options.Lane)
}

// forget deletes all runs of an id, as the end of the retention does.
func (w world) forget(t *testing.T, id string) {
	t.Helper()
	c := w.server.Client(t)
	_, err := c.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: devserver.DefaultNamespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: id},
	})
	require.NoError(t, err)
	temporaltest.Wait(t, time.Minute, "the run to be forgotten", func() bool {
		_, err := c.DescribeWorkflow(t.Context(), id, "")
		return err != nil
	})
}

// E4: what cannot be meant must be said in words that tell what is meant, with nothing
// started.
func TestRedriveRefuses(t *testing.T) {
	t.Parallel()
	s := newShop("f")
	w := setupShop(t, s, six, approvalGraph)
	failed, paused := w.queue+"-failed", w.queue+"-paused"
	require.Equal(t, exitFailed, w.call(t, "run", "six", "--id", failed, "--task-queue", w.queue).code)
	require.Equal(t, exitPaused, w.call(t, "run", "ask", "--id", paused, "--task-queue", w.queue).code)
	noExport := filepath.Join(t.TempDir(), "no.json")
	require.NoError(t, os.WriteFile(noExport, []byte(`{"a":1}`), 0o600))
	unlike := filepath.Join(t.TempDir(), "unlike.yaml")
	require.NoError(t, os.WriteFile(unlike, []byte("version: 1\nid: six\nentry: a\nnodes: [{id: a, run: work, next: end}]\n"), 0o600))
	for _, test := range []struct {
		name string
		args []string
		kind string
		says string
	}{
		{"no id", nil, typeUsage, "the id of a run"},
		{"an unknown run", []string{"nobody"}, tidemill.ErrTypeNotFound, "no such run"},
		{"an open run", []string{paused}, tidemill.ErrTypeAlreadyExists, "answer it if it is paused, or cancel it first"},
		{"no deadline", []string{failed, "--deadline", ""}, typeUsage, "no deadline is given"},
		{"a deadline of zero", []string{failed, "--deadline", "0s"}, typeUsage, "over before the run begins"},
		{"a negative deadline", []string{failed, "--deadline", "-5m"}, typeUsage, "over before the run begins"},
		{"a deadline in the past", []string{failed, "--deadline", "2020-01-01T00:00:00Z"}, typeUsage, "lies in the past"},
		{"a moment", []string{failed, "--deadline", "2120-01-01T00:00:00Z"}, typeUsage, "is a point in time"},
		{"no steps", []string{failed, "--max-steps", "0"}, typeUsage, "give at least 1"},
		{"fewer than no steps", []string{failed, "--max-steps", "-1"}, typeUsage, "give at least 1"},
		{"no address", []string{failed, "--from", "f"}, typeUsage, "ship#1 for the first visit"},
		{"an address of nothing", []string{failed, "--from", "g#1"}, graph.ErrTypeInvalidRunOptions, "a#1, b#1, c#1, d#1, e#1, f#1"},
		{"a key where no map is", []string{failed, "--from", "c#1/acme"}, graph.ErrTypeInvalidRunOptions, "c#1 is no map whose items have keys"},
		{"a missing file", []string{failed, "--export", noExport + ".none"}, typeUsage, "the export cannot be read"},
		{"no export", []string{failed, "--export", noExport}, graph.ErrTypeInvalidCheckpoint, ""},
		{"two sources", []string{failed, "--export", noExport, "--run", "x"}, typeUsage, "not from both"},
		{"an invalid graph", []string{failed, "--spec", "testdata/broken.yaml"}, graph.ErrTypeInvalidDocument, "error"},
		{"another graph", []string{failed, "--spec", "testdata/echo.yaml"}, graph.ErrTypeInvalidRunOptions, `"echo"`},
		{"a graph without the node", []string{failed, "--spec", unlike}, graph.ErrTypeCheckpointDefinition, "f"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := w.call(t, append(append([]string{"redrive"}, test.args...), "--output", "json")...)
			require.NotEqual(t, exitCompleted, r.code)
			told := r.problem(t)
			require.Equal(t, test.kind, told.Type, told.Message)
			require.Contains(t, told.Message, test.says)
			if len(test.args) > 0 && test.args[0] == failed {
				require.Equal(t, exitUsage, r.code)
			}
		})
	}
}

const approvalGraph = `
version: 1
id: ask
entry: a
nodes: [{id: a, type: pause, next: end}]
`

// Row 95: two who redrive the same run at once must not run it twice.
func TestTwoRedrivesAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop("f")
	w := setupShop(t, s, six, approvalGraph)
	id := w.queue
	require.Equal(t, exitFailed, w.call(t, "run", "six", "--id", id, "--task-queue", w.queue).code)
	s.mend()
	s.called()
	const many = 4
	results := make(chan result, many)
	for range many {
		go func() { results <- w.call(t, "redrive", id, "--output", "json") }()
	}
	won := 0
	for range many {
		r := <-results
		if r.code == exitCompleted {
			won++
			continue
		}
		require.Contains(t, []string{tidemill.ErrTypeAlreadyExists, graph.ErrTypeCheckpointComplete}, r.problem(t).Type, r.out)
	}
	require.Equal(t, 1, won)
	require.Equal(t, map[string]int{"f": 1}, s.called())
	runs, err := w.server.Client(t).ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: "WorkflowId = '" + id + "'",
	})
	require.NoError(t, err)
	require.LessOrEqual(t, len(runs.GetExecutions()), 2)
}
