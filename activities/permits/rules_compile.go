package permits

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

// The names that the expressions of rules may use.
const (
	partitionNames = expr.Facts | expr.Run
	ruleNames      = expr.Facts | expr.Partition
)

// ruleCompiler compiles rules and collects what is wrong with them.
type ruleCompiler struct {
	language *expr.Compiler
	found    RuleErrors
}

func newRuleCompiler() (*ruleCompiler, error) {
	language, err := expr.NewCompiler()
	if err != nil {
		return nil, err
	}
	return &ruleCompiler{language: language}, nil
}

func (c *ruleCompiler) err() error {
	if len(c.found) == 0 {
		return nil
	}
	return c.found
}

func (c *ruleCompiler) fault(field, message, fix string) {
	c.found = append(c.found, &RuleError{Field: field, Code: CodeInvalidRule, Message: message, Fix: fix})
}

func (c *ruleCompiler) expression(field string, e expr.Error) {
	if e.Message == "the expression is empty" {
		e.Fix = "write the name of a fact, such as node"
	}
	c.found = append(c.found, &RuleError{Field: field, Code: e.Code, Offset: e.Offset, Message: e.Message, Fix: e.Fix})
}

func (c *ruleCompiler) partition(p Partition) *partition {
	const from, known = "partition.from", "partition.known"
	switch {
	case p.From == "" && len(p.Known) > 0:
		c.fault(from, "is missing, so that no run would be in a known partition", `write for example from: "${ run.lane.app }"`)
	case p.From != "" && len(p.Known) == 0:
		c.fault(known, "names no partition, so that every run would be in "+PartitionOther, "list the partitions, for example [acme, globex]")
	}
	for i, name := range p.Known {
		field := fmt.Sprintf("%s[%d]", known, i)
		switch {
		case name == "" || len(name) > admission.MaxNameBytes || !utf8.ValidString(name):
			c.fault(field, "is no name", fmt.Sprintf("write a text of 1 to %d bytes", admission.MaxNameBytes))
		case name == PartitionOther:
			c.fault(field, PartitionOther+" is what every run is in that is in none of these", "leave it out, or choose another name")
		case slices.Contains(p.Known[:i], name):
			c.fault(field, fmt.Sprintf("%q stands twice", name), "keep one of the two")
		}
	}
	return &partition{from: c.text(from, p.From, partitionNames), known: slices.Clone(p.Known)}
}

func (c *ruleCompiler) rules(rules []Rule) compiledRules {
	out := make(compiledRules, len(rules))
	for i := range rules {
		field := fmt.Sprintf("rules[%d].", i)
		if rules[i].When == "" && i+1 < len(rules) {
			c.fault(field+"when", "is missing, so that the rules behind this one would never hold",
				"write a condition, or move the rule to the end")
		}
		out[i] = c.rule(field, &rules[i])
	}
	return out
}

func (c *ruleCompiler) rule(field string, r *Rule) compiledRule {
	out := compiledRule{
		when:     c.condition(field+"when", r.When),
		domain:   c.text(field+"domain", r.Domain, ruleNames),
		agent:    c.text(field+"agent", r.Agent, ruleNames),
		keys:     c.amounts(field+"keys", r.Keys),
		rates:    c.amounts(field+"rates", r.Rates),
		flow:     c.text(field+"flow", r.Flow, ruleNames),
		priority: r.Priority,
	}
	if d := out.domain; d.template == nil && d.literal != "" {
		if CheckDomain(d.literal) != nil {
			c.fault(field+"domain", fmt.Sprintf("%q is not the name of a domain", d.literal), domainShape)
		}
	}
	c.literals(field, &out)
	return out
}

// literals checks what is known before any attempt. What is not stands for itself.
func (c *ruleCompiler) literals(field string, r *compiledRule) {
	stand := func(t text, name string) string {
		if t.template != nil {
			return name
		}
		return t.literal
	}
	class := Class{Agent: stand(r.agent, "agent"), Flow: stand(r.flow, "flow"), Priority: r.priority}
	for i, a := range r.keys {
		class.Keys = append(class.Keys, admission.Units{Key: stand(a.key, fmt.Sprintf("key %d", i)), Units: a.units})
	}
	for i, a := range r.rates {
		class.Rates = append(class.Rates, admission.Units{Key: stand(a.key, fmt.Sprintf("rate %d", i)), Units: a.units})
	}
	for _, e := range fieldErrors(class.check()) {
		message, fix, _ := strings.Cut(e.Fault, "; ")
		c.fault(field+e.Field, message, fix)
	}
}

// fieldErrors are the faults that an error joins.
func fieldErrors(err error) []*admission.FieldError {
	var one *admission.FieldError
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var list []*admission.FieldError
		for _, e := range many.Unwrap() {
			list = append(list, fieldErrors(e)...)
		}
		return list
	}
	if errors.As(err, &one) {
		return []*admission.FieldError{one}
	}
	return nil
}

// condition compiles a condition. That it gives no truth value is told now if a
// trial shows it.
func (c *ruleCompiler) condition(field, written string) *expr.Expression {
	if written == "" {
		return nil
	}
	e, err := c.language.Compile(written, ruleNames)
	var found expr.Errors
	if errors.As(err, &found) {
		for _, one := range found {
			c.expression(field, one)
		}
		return nil
	}
	if raw, err := e.Eval(trial()); err == nil && value.KindOf(raw) != value.KindBool {
		c.fault(field, "gives no truth value", `compare something, for example node == "charge"`)
	}
	return e
}

func (c *ruleCompiler) amounts(field string, units []admission.Units) []amount {
	out := make([]amount, len(units))
	for i, u := range units {
		out[i] = amount{key: c.text(fmt.Sprintf("%s[%d].key", field, i), u.Key, ruleNames), units: u.Units}
	}
	return out
}

func (c *ruleCompiler) text(field, written string, names expr.Names) text {
	if !strings.Contains(written, "${") {
		return text{literal: written}
	}
	template, found := c.language.CompileTemplate(value.AppendString(nil, written), names)
	for _, e := range found {
		c.expression(field, e.Error)
	}
	if template == nil {
		return text{template: &expr.Template{}} // in its place; it is never evaluated
	}
	t := text{template: template}
	given, err := t.eval(trial())
	switch {
	case errors.Is(err, errNoText):
		c.fault(field, "gives no text", "write string(…), or text around the expression")
	case template.Literal():
		return text{literal: given}
	}
	return t
}

// trial are facts of no run, to see what kind of value an expression gives.
func trial() *expr.Vars {
	f := Facts{
		Graph: "x", Node: "x", Type: "x", Agent: "x", Tool: "x", Action: "x", Trigger: "x", Partition: "x",
		App: "x", User: "x", Session: "x", WorkflowID: "x",
	}
	vars := f.vars()
	vars.Run = f.run()
	return vars
}
