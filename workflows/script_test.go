package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/tidemill/tidemill/activities"
)

// line is what an act of a scripted action says and does; a graph writes it as
// the args of a node.
type line struct {
	Control string          `json:"control"` // output, ok, stop, route, pause; attempt: its number; nan: no JSON
	Output  any             `json:"output"`
	Delta   any             `json:"delta"`
	Target  string          `json:"target"`
	Reason  string          `json:"reason"`
	Summary string          `json:"summary"`
	Schema  json.RawMessage `json:"schema"`
	Fail    string          `json:"fail"`  // an error instead; panic, nil, exit: worse
	Until   int             `json:"until"` // the error stops after this many calls; zero: never
}

// script is the action "act", which does what its line says, and the journal of
// its calls.
type script struct {
	mu    sync.Mutex
	calls map[string][]string // by workflow id: addresses in the order of the calls
	tree  []call
}

func newScript() *script { return &script{calls: map[string][]string{}} }

func (s *script) register(r *activities.Registry) { activities.Register(r, "act", s.act) }

func (s *script) act(ctx context.Context, in line) (activities.Result, error) {
	calls := s.note(ctx)
	if in.Fail != "" && (in.Until == 0 || calls <= in.Until) {
		return activities.Result{}, in.failure()
	}
	result := activities.Output(in.Output)
	switch in.Control {
	case "ok":
		result = activities.OK()
	case "stop":
		result = activities.Stop(in.Output)
	case "route":
		result = activities.Route(in.Target)
	case "attempt":
		result = activities.Output(activities.Info(ctx).Attempt)
	case "nan":
		result = activities.Output(math.NaN())
	case "pause":
		result = activities.Pause(activities.PauseRequest{Reason: in.Reason, Summary: in.Summary, ResumeSchema: in.Schema})
	}
	if in.Delta != nil {
		result = result.WithDelta(in.Delta)
	}
	return result, nil
}

// failure is how the line fails: by an error, or in a way that Go code fails
// when it is wrong.
func (l line) failure() error {
	switch l.Fail {
	case "panic":
		panic("the action panics")
	case "nil":
		return errors.New(map[string]*line{}["missing"].Fail)
	case "exit":
		runtime.Goexit()
	}
	return errors.New(l.Fail)
}

// note writes the call down, and gives how often this activation was called.
func (s *script) note(ctx context.Context) int {
	info := activities.Info(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[info.ID] = append(s.calls[info.ID], string(info.Address))
	s.tree = append(s.tree, call{info.ID, string(info.Address)})
	count := 0
	for _, address := range s.calls[info.ID] {
		if address == string(info.Address) {
			count++
		}
	}
	return count
}

// call is one call of an activation of a workflow.
type call struct{ workflowID, address string }

// calledBelow lists the activations of a run and of all its children that were
// called, in order.
func (s *script) calledBelow(workflowID string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	called := []string{}
	for _, c := range s.tree {
		if c.workflowID == workflowID || strings.HasPrefix(c.workflowID, workflowID+"/") {
			called = append(called, c.address)
		}
	}
	return called
}

// called lists the activations of a run that were called, in order.
func (s *script) called(workflowID string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls[workflowID]...)
}

// flaky is the action "flaky", which fails in each run of a graph until it has
// failed often enough in the whole run.
type flaky struct {
	mu   sync.Mutex
	left int
}

func newFlaky(failures int) *flaky { return &flaky{left: failures} }

func (f *flaky) register(r *activities.Registry) {
	activities.Register(r, "flaky", func(context.Context, struct{}) (string, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.left--; f.left >= 0 {
			return "", errors.New("not yet")
		}
		return "done", nil
	})
}

// registerGate registers an action that gives its argument k: 0 when the gate opens,
// all others at once.
func registerGate(r *activities.Registry, name string, gate <-chan struct{}) {
	activities.Register(r, name, func(ctx context.Context, in struct {
		K int `json:"k"`
	},
	) (int, error) {
		if in.K == 0 {
			select {
			case <-gate:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		return in.K, nil
	})
}
