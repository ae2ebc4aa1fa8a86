package tidemilltest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Simulate runs a scenario in virtual time and gives all that happened, without an
// opinion on it. An error says that the scenario cannot be run as it is told, or that
// not all of it came to pass: a step of a fake or an answer that was not used. The
// result is then what happened all the same, as far as the run came.
//
// The run is done twice. The second time nothing is called, each attempt goes as it
// went the first time, and decisions are taken one by one; the two transcripts must be
// the same.
func Simulate(ctx context.Context, s Scenario) (*Result, error) {
	w, err := newWorld(ctx, &s)
	if err != nil {
		return nil, err
	}
	err = w.run()
	if !w.ran() {
		return nil, err
	}
	result := w.result()
	if err != nil {
		return result, err
	}
	again := w.again()
	err = again.run()
	if different := compare(w.lines, again.lines); different != nil {
		return result, different
	}
	var left []error
	for _, text := range append(w.script.left(), w.inbox.unsent()...) {
		left = append(left, fmt.Errorf("tidemilltest: %s", text))
	}
	return result, errors.Join(append(left, err)...)
}

// ran reports whether the run came as far as to have a result.
func (w *world) ran() bool { return w.root != nil && (w.root.m != nil || w.root.refused != nil) }

// compare finds the first line in which two transcripts differ.
func compare(first, again []string) error {
	for i := range max(len(first), len(again)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(first) {
			a = first[i]
		}
		if i < len(again) {
			b = again[i]
		}
		if a != b {
			return fmt.Errorf("tidemilltest: the run goes another way when it is done again, so it would not survive a replay; "+
				"a callback that does not always answer the same may be why. They differ in line %d:\n  first: %s\n  again: %s", i+1, a, b)
		}
	}
	return nil
}

// result is what happened.
func (w *world) result() *Result {
	r := &Result{Duration: w.since(), Calls: w.calls, Path: w.path, Transcript: w.lines, Output: value.Null()}
	u := w.root
	if u.refused != nil {
		r.Status, r.Error, r.State = graph.StatusFailed, u.refused, value.Null()
		return r
	}
	report := u.m.Report()
	r.Status, r.Error, r.State, r.Steps = report.Status, report.Error, report.State, report.Steps
	if report.Output != nil {
		r.Output = report.Output
	}
	r.Pauses, r.Answers, r.Checkpoint = w.inbox.closes(), slices.Clone(w.inbox.answered), u.m.Checkpoint()
	return r
}
