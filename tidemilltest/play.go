package tidemilltest

import (
	"strings"
	"testing"
)

// Run is a run that was played in a test.
type Run struct {
	*Result

	tb testing.TB
}

// Play runs a scenario in a test, which fails when the scenario cannot be run as it is
// told; see [Simulate].
func Play(tb testing.TB, s Scenario) *Run {
	tb.Helper()
	result, err := Simulate(tb.Context(), s)
	if err != nil {
		if result != nil {
			tb.Logf("%s", result.text())
		}
		tb.Fatalf("%v", err)
	}
	return &Run{Result: result, tb: tb}
}

// Require fails the test now when the run was otherwise than expected, with all
// differences and the transcript.
func (r *Run) Require(e Expect) *Run {
	r.tb.Helper()
	found := e.Check(r.Result)
	if len(found) == 0 {
		return r
	}
	r.tb.Logf("%s", r.text())
	for _, d := range found {
		r.tb.Errorf("%s", d)
	}
	r.tb.FailNow()
	return r
}

// text is the transcript.
func (r *Result) text() string {
	return "what happened:\n  " + strings.Join(r.Transcript, "\n  ")
}
