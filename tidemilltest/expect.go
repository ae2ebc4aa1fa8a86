package tidemilltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Expect is what a run should have done. Zero fields expect nothing, but Status, which
// is completed where neither it nor Error is given.
type Expect struct {
	Status graph.Status
	Output any // the whole output; null is json.RawMessage("null")
	// State are keys of the state with their whole values; WholeState says that there
	// are no others.
	State      map[string]any
	WholeState bool
	// Path is the way the run took: nodes as in Own of [Result], or, when one of them
	// holds a slash, every visit of children and items as well.
	Path    []string
	Calls   []ExpectCalls
	Pauses  []ExpectPause // all of them, in the order in which they opened
	Error   *ExpectError
	Answers []string // the verdicts, in order
	Steps   int
	// Took is the virtual time from the start to the end.
	Took time.Duration
}

// ExpectCalls is how often something was called, and how.
type ExpectCalls struct {
	Name  string // of an action, an activity, or a faked child graph
	Count int
	Each  []ExpectCall // when given, one for each call, and Count is their number
}

// ExpectCall is one call.
type ExpectCall struct {
	Args    any // whole
	Address string
	Attempt int
	Key     string
}

// ExpectPause is a pause that was opened. Only Pause must be given.
type ExpectPause struct {
	Pause, Reason, Summary string
	Show                   any
	Closed                 graph.PauseClosed
}

// ExpectError is why a run did not complete.
type ExpectError struct {
	Type    string
	Message string // a part of it
	Node    string
	Address string
	Cause   *ExpectError
}

// Difference is one thing that is otherwise than expected.
type Difference struct {
	What string `json:"what"`
	Want string `json:"want"`
	Got  string `json:"got"`
}

// String is the difference on one line, or two where it is long.
func (d Difference) String() string {
	if len(d.Want)+len(d.Got) > 100 {
		return fmt.Sprintf("%s: want %s\n%s   got %s", d.What, d.Want, strings.Repeat(" ", len(d.What)), d.Got)
	}
	return fmt.Sprintf("%s: want %s, got %s", d.What, d.Want, d.Got)
}

// differences collects what is otherwise.
type differences struct{ found []Difference }

func (d *differences) add(what, want, got string) {
	d.found = append(d.found, Difference{What: what, Want: want, Got: got})
}

func (d *differences) same(what string, want, got any) {
	if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
		d.add(what, w, g)
	}
}

// given compares only where something is expected.
func (d *differences) given(what, want, got string) {
	if want != "" {
		d.same(what, want, got)
	}
}

// json compares values; any value will do when none is expected.
func (d *differences) json(what string, want any, got json.RawMessage) {
	if want == nil {
		return
	}
	expected, err := value.Marshal(want)
	if err != nil {
		d.add(what, "something that is JSON: "+err.Error(), string(got))
		return
	}
	if got == nil {
		got = value.Null()
	}
	if !value.Equal(expected, got) {
		d.add(what, string(expected), string(got))
	}
}

// Check compares a run with what is expected of it.
func (e Expect) Check(r *Result) []Difference {
	d := &differences{}
	e.ending(d, r)
	d.json("output", e.Output, r.Output)
	e.state(d, r)
	if e.Path != nil {
		d.path(e.Path, r)
	}
	for _, calls := range e.Calls {
		calls.check(d, r.CallsOf(calls.Name))
	}
	if e.Pauses != nil {
		d.pauses(e.Pauses, r.Pauses)
	}
	if e.Answers != nil {
		var verdicts []string
		for _, a := range r.Answers {
			verdicts = append(verdicts, a.Verdict)
		}
		d.same("answers", list(e.Answers), list(verdicts))
	}
	if e.Steps != 0 {
		d.same("steps", e.Steps, r.Steps)
	}
	if e.Took != 0 {
		d.same("took", e.Took, r.Duration)
	}
	return d.found
}

// ending compares status and error.
func (e Expect) ending(d *differences, r *Result) {
	status := e.Status
	if status == "" && e.Error == nil {
		status = graph.StatusCompleted
	}
	if got := string(r.Status); status != "" && status != r.Status {
		if r.Error != nil {
			got += fmt.Sprintf(" (%s)", r.Error.Error())
		}
		d.add("status", string(status), got)
	}
	if e.Error != nil {
		e.Error.check(d, "error", r.Error)
	}
}

func (e *ExpectError) check(d *differences, what string, got *graph.Failure) {
	if got == nil {
		d.add(what, e.Type, "none")
		return
	}
	if e.Type != "" && e.Type != got.Type {
		d.add(what, e.Type, fmt.Sprintf("%s (%s)", got.Type, got.Message))
	}
	if !strings.Contains(got.Message, e.Message) {
		d.add(what+" message", fmt.Sprintf("with %q", e.Message), fmt.Sprintf("%q", got.Message))
	}
	d.given(what+" node", e.Node, got.Node)
	d.given(what+" address", long(e.Address), string(got.Address))
	if e.Cause != nil {
		e.Cause.check(d, what+" cause", got.Cause)
	}
}

func (e Expect) state(d *differences, r *Result) {
	if e.State == nil && !e.WholeState {
		return
	}
	state, err := value.ParseObject(r.State)
	if err != nil {
		d.add("state", "an object", string(r.State))
		return
	}
	for _, key := range sortedKeys(e.State) {
		got, has := state.Get(key)
		if want := e.State[key]; !has {
			d.add("state "+key, jsonText(want), "no such key")
		} else if want == nil {
			d.json("state "+key, value.Null(), got)
		} else {
			d.json("state "+key, want, got)
		}
	}
	for _, member := range state {
		if _, expected := e.State[member.Key]; e.WholeState && !expected {
			d.add("state "+member.Key, "no such key", string(member.Value))
		}
	}
}

func (d *differences) path(want []string, r *Result) {
	whole := slices.ContainsFunc(want, func(a string) bool { return strings.Contains(a, "/") })
	got := r.Own()
	if whole {
		got = nil
		for _, address := range r.Path {
			got = append(got, short(string(address)))
		}
	}
	var expected []string
	for _, address := range want {
		expected = append(expected, short(long(address)))
	}
	d.same("path", list(expected), list(got))
}

func (c ExpectCalls) check(d *differences, got []Call) {
	what := "calls of " + c.Name
	count := c.Count
	if c.Each != nil {
		count = len(c.Each)
	}
	d.same(what, count, len(got))
	for i, want := range c.Each {
		if i >= len(got) {
			return
		}
		at := fmt.Sprintf("call %d of %s", i+1, c.Name)
		d.json(at+" args", want.Args, got[i].Args)
		d.given(at+" address", long(want.Address), string(got[i].Address))
		d.given(at+" key", want.Key, got[i].Key)
		if want.Attempt != 0 {
			d.same(at+" attempt", want.Attempt, got[i].Attempt)
		}
	}
}

func (d *differences) pauses(want []ExpectPause, got []Pause) {
	var opened, expected []string
	for _, p := range got {
		opened = append(opened, short(string(p.ID)))
	}
	for i, p := range want {
		if i < len(got) && names(p.Pause, got[i].OpenPause) {
			expected = append(expected, opened[i])
			p.check(d, got[i])
			continue
		}
		expected = append(expected, short(long(p.Pause)))
	}
	d.same("pauses", list(expected), list(opened))
}

func (p ExpectPause) check(d *differences, got Pause) {
	what := "pause " + p.Pause
	d.given(what+" reason", p.Reason, got.Reason)
	d.given(what+" summary", p.Summary, got.Summary)
	d.json(what+" show", p.Show, got.Show)
	if p.Closed != "" && p.Closed != orOpen(got.Closed) {
		d.same(what+" closed", p.Closed, orOpen(got.Closed))
	}
}

// StillOpen is how an open pause is expected.
const StillOpen graph.PauseClosed = "open"

func orOpen(c graph.PauseClosed) graph.PauseClosed {
	if c == "" {
		return StillOpen
	}
	return c
}

// list is words as they stand in a message.
func list(words []string) string { return "[" + strings.Join(words, ", ") + "]" }

func jsonText(v any) string {
	text, err := value.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
