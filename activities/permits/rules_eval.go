package permits

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

// compiledRules are rules that can be evaluated, by several goroutines at once.
type compiledRules []compiledRule

type compiledRule struct {
	when                *expr.Expression // nil: always
	domain, agent, flow text
	keys, rates         []amount
	priority            *int
}

// amount is an amount of a key that is known when the facts are.
type amount struct {
	key   text
	units int
}

// text is text with expressions in it; without a template it stands for itself.
type text struct {
	literal  string
	template *expr.Template
}

var errNoText = errors.New("the expression gives no text; write string(…)")

func (t text) eval(vars *expr.Vars) (string, error) {
	if t.template == nil {
		return t.literal, nil
	}
	raw, err := t.template.Eval(vars)
	if err != nil {
		return "", err
	}
	if value.KindOf(raw) != value.KindString {
		return "", errNoText
	}
	var s string
	err = json.Unmarshal(raw, &s)
	return s, err
}

func (r *compiledRule) holds(vars *expr.Vars) (bool, error) {
	if r.when == nil {
		return true, nil
	}
	holds, err := r.when.Bool(vars)
	if err != nil {
		err = fmt.Errorf("when: %w", err)
	}
	return holds, err
}

func (r *compiledRule) class(vars *expr.Vars) (Class, error) {
	c := Class{Priority: r.priority}
	for _, part := range []struct {
		name string
		text text
		into *string
	}{{"domain", r.domain, &c.Domain}, {"agent", r.agent, &c.Agent}, {"flow", r.flow, &c.Flow}} {
		var err error
		if *part.into, err = part.text.eval(vars); err != nil {
			return Class{}, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	var err error
	if c.Keys, err = amounts("keys", r.keys, vars); err != nil {
		return Class{}, err
	}
	if c.Rates, err = amounts("rates", r.rates, vars); err != nil {
		return Class{}, err
	}
	return c, c.check()
}

func amounts(field string, list []amount, vars *expr.Vars) ([]admission.Units, error) {
	var units []admission.Units
	for i, a := range list {
		key, err := a.key.eval(vars)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		units = append(units, admission.Units{Key: key, Units: a.units})
	}
	return units, nil
}

// partition is a Partition that can be evaluated.
type partition struct {
	from  text
	known []string
}

// of is the partition of an attempt. One that cannot be made out is no partition.
func (p *partition) of(f Facts) (string, error) {
	vars := f.vars()
	vars.Run = f.run()
	name, err := p.from.eval(vars)
	if err != nil {
		return "", unclassified("partition.from: %w", err)
	}
	if slices.Contains(p.known, name) {
		return name, nil
	}
	return PartitionOther, nil
}

// vars are the facts as expressions see them.
func (f *Facts) vars() *expr.Vars {
	return &expr.Vars{Facts: map[string]string{
		"graph": f.Graph, "node": f.Node, "type": f.Type, "agent": f.Agent, "tool": f.Tool, "action": f.Action,
		"trigger": f.Trigger, "partition": f.Partition,
	}}
}

// run is what of the run a rule for the partition may go by.
func (f *Facts) run() json.RawMessage {
	raw, err := value.Marshal(map[string]any{
		"id": f.WorkflowID, "lane": map[string]string{"app": f.App, "user": f.User, "session": f.Session},
	})
	if err != nil { // a lane that is not UTF-8
		return value.Null()
	}
	return raw
}
