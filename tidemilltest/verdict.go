package tidemilltest

import (
	"context"
	"testing"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// Outcome is how a test case ended.
type Outcome string

// The outcomes of a case.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // on a server; Reason says why
)

// Verdict is what became of a test case.
type Verdict struct {
	File        string         `json:"file"`
	Line        int            `json:"line"`
	Name        string         `json:"name"`
	Outcome     Outcome        `json:"outcome"`
	Reason      string         `json:"reason,omitempty"` // why it was skipped, or could not be run as it is told
	Differences []Difference   `json:"differences,omitempty"`
	Calls       int            `json:"calls"`
	Took        graph.Duration `json:"took"` // virtual
	Server      bool           `json:"server,omitempty"`

	Result *Result `json:"-"` // nil when nothing ran
}

// Play runs a case in virtual time.
func (s *Suite) Play(ctx context.Context, c Case) Verdict {
	scenario := c.Scenario
	scenario.App = s.newApp()
	result, err := Simulate(ctx, scenario)
	return s.verdict(c, result, err)
}

// verdict compares what happened in a case with what it expects.
func (s *Suite) verdict(c Case, result *Result, err error) Verdict {
	v := Verdict{File: s.File, Line: c.Line, Name: c.Name, Outcome: Passed, Result: result}
	if result != nil {
		v.Calls, v.Took = len(result.Calls), graph.Duration(result.Duration)
		v.Differences = c.Expect.Check(result)
	}
	if err != nil {
		v.Reason = err.Error()
	}
	if err != nil || len(v.Differences) > 0 {
		v.Outcome = Failed
	}
	return v
}

// RunCases runs every case of a file as a test of its own. The graphs and real actions
// come from newApp, or from files beside the cases when it is nil; see [LoadCases].
func RunCases(t *testing.T, path string, newApp func() *tidemill.App) {
	t.Helper()
	s, err := LoadCases(path, newApp)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, c := range s.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s.Play(t.Context(), c).require(t)
		})
	}
}

// require fails the test when the case has not passed.
func (v Verdict) require(tb testing.TB) {
	tb.Helper()
	if v.Outcome != Failed {
		return
	}
	if v.Result != nil {
		tb.Logf("%s", v.Result.text())
	}
	if v.Reason != "" {
		tb.Errorf("%s:%d: %s", v.File, v.Line, v.Reason)
	}
	for _, d := range v.Differences {
		tb.Errorf("%s:%d: %s", v.File, v.Line, d)
	}
}
