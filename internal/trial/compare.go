package trial

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
	"github.com/tidemill/tidemill/tidemilltest"
)

// differences are what a run on a server did otherwise than in virtual time.
func differences(want, got *tidemilltest.Result) []tidemilltest.Difference {
	var found []tidemilltest.Difference
	same := func(what, virtual, server string) {
		if virtual != server {
			found = append(found, tidemilltest.Difference{What: what + " on the server", Want: virtual, Got: server})
		}
	}
	same("status", string(want.Status), string(got.Status))
	same("output", text(want.Output), text(got.Output))
	if len(got.State) > 0 && string(got.State) != "null" { // left out where it is large
		same("state", text(want.State), text(got.State))
	}
	same("error", failure(want.Error), failure(got.Error))
	same("steps", fmt.Sprint(want.Steps), fmt.Sprint(got.Steps))
	same("calls", calls(want), calls(got))
	same("pauses", pauses(want), pauses(got))
	same("answers", answers(want), answers(got))
	return found
}

func text(raw json.RawMessage) string {
	if raw == nil {
		return "null"
	}
	canonical, err := value.Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return string(canonical)
}

// failure is a failure by its types and its place.
func failure(f *graph.Failure) string {
	var types []string
	at := ""
	if f != nil {
		at = " at " + string(f.Address)
	}
	for ; f != nil; f = f.Cause {
		types = append(types, f.Type)
	}
	return strings.Join(types, " because of ") + at
}

// calls are all calls in an order that does not hang on what happened side by side.
func calls(r *tidemilltest.Result) string {
	var all []string
	for _, c := range r.Calls {
		all = append(all, fmt.Sprintf("%s %s attempt %d %s", c.Address, c.Name, c.Attempt, text(c.Args)))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func pauses(r *tidemilltest.Result) string {
	var all []string
	for _, p := range r.Pauses {
		all = append(all, fmt.Sprintf("%s %s %s %s", p.ID, p.Reason, p.Summary, text(p.Show)))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// answers are which were taken and which were not: a run that has closed refuses in
// other words than one that is open.
func answers(r *tidemilltest.Result) string {
	var all []string
	for _, a := range r.Answers {
		verdict := "refused"
		if a.Verdict == tidemilltest.Accepted {
			verdict = a.Verdict
		}
		all = append(all, a.Pause+" "+verdict)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
