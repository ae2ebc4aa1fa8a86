package graph

import (
	"encoding/json"
	"time"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

// evaluation evaluates the programs of one question over its scope.
type evaluation struct {
	scope Scope
}

// vars makes the values of the names that are used. The facts of the run and
// the failure need writing as JSON, so they are made only on demand.
func (s *evaluation) vars(uses func(expr.Names) bool) *expr.Vars {
	vars := &expr.Vars{
		State: s.scope.State, Input: s.scope.Input, Result: s.scope.Result,
		Item: s.scope.Item, Index: s.scope.Index,
	}
	if uses(expr.Run) {
		vars.Run = s.scope.Run.value()
	}
	if s.scope.Error != nil && uses(expr.Failure) {
		vars.Error = s.scope.Error.Value()
	}
	return vars
}

// value is the facts as expressions see them: every field is there, so that
// run.lane.user is empty rather than missing.
func (r RunFacts) value() json.RawMessage {
	type lane struct {
		App     string `json:"app"`
		User    string `json:"user"`
		Session string `json:"session"`
	}
	raw, err := value.Marshal(struct {
		RunFacts
		Lane lane `json:"lane"`
	}{r, lane(r.Lane)})
	if err != nil { // an id that is not UTF-8
		return value.Null()
	}
	return raw
}

// choose is the first case that holds, else the default, which may be none.
func (s *evaluation) choose(cases []caseProgram, otherwise string) (Decision, *Failure) {
	for i := range cases {
		holds, failure := cases[i].holds(s.vars(cases[i].when.Uses))
		if failure != nil {
			return Decision{}, failure
		}
		if holds {
			return Decision{To: cases[i].to}, nil
		}
	}
	return Decision{To: otherwise}, nil
}

// values are an output and a delta, of a node or of a branch that recovers.
// Without a program for the output the decision has no Output.
func (s *evaluation) values(output, delta *valueProgram) (Decision, *Failure) {
	var d Decision
	vars := s.vars(func(names expr.Names) bool { return output.uses(names) || delta.uses(names) })
	if output != nil {
		var failure *Failure
		if d.Output, failure = output.eval(vars); failure != nil {
			return Decision{}, failure
		}
	}
	if delta != nil {
		raw, failure := delta.eval(vars)
		if failure != nil {
			return Decision{}, failure
		}
		if d.Delta, failure = parseDelta(raw, delta.place); failure != nil {
			return Decision{}, failure
		}
	}
	return d, nil
}

func parseDelta(raw json.RawMessage, place string) (value.Object, *Failure) {
	if value.KindOf(raw) != value.KindObject {
		return nil, Failf(ErrTypeInvalidStateDelta, "%s must give an object, and gave %s", place, value.KindOf(raw))
	}
	delta, err := value.ParseObject(raw)
	if err != nil {
		return nil, Failf(ErrTypeInvalidStateDelta, "%s: %v", place, err)
	}
	return delta, nil
}

// pause is what a pause shows: the summary as text, cut to size, and show,
// which cannot be cut.
func (s *evaluation) pause(p *nodePrograms) (Decision, *Failure) {
	var d Decision
	vars := s.vars(func(names expr.Names) bool { return p.summary.uses(names) || p.show.uses(names) })
	if p.summary != nil {
		raw, failure := p.summary.eval(vars)
		if failure != nil {
			return Decision{}, failure
		}
		d.Summary = cutText(plainText(raw), MaxSummary)
	}
	if p.show != nil {
		var failure *Failure
		if d.Show, failure = p.show.eval(vars); failure != nil {
			return Decision{}, failure
		}
		if len(d.Show) > MaxShow {
			return Decision{}, Failf(ErrTypeOutputTooLarge, "%s has %d bytes, and a pause shows at most %d", p.show.place, len(d.Show), MaxShow)
		}
	}
	return d, nil
}

// plainText is a value as people read it: text without quotes, else JSON.
func plainText(raw json.RawMessage) string {
	var text string
	if value.KindOf(raw) == value.KindString && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// until is a time as RFC 3339 text.
func (s *evaluation) until(p *nodePrograms) (Decision, *Failure) {
	raw, failure := p.until.eval(s.vars(p.until.uses))
	if failure != nil {
		return Decision{}, failure
	}
	if value.KindOf(raw) != value.KindString {
		return Decision{}, Failf(ErrTypeExpressionFailed, "%s must give a time as text, and gave %s", p.until.place, value.KindOf(raw))
	}
	if _, err := time.Parse(time.RFC3339, plainText(raw)); err != nil {
		return Decision{}, Failf(ErrTypeExpressionFailed, "%s must give a time in RFC 3339 form, such as 2030-01-31T09:00:00Z", p.until.place)
	}
	return Decision{Output: raw}, nil
}
