package graph

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

// valueProgram is a value ready to be evaluated. A literal needs no program.
type valueProgram struct {
	place    string // nodes/ship/output, for messages
	raw      json.RawMessage
	template *expr.Template
}

// eval gives the value as canonical JSON.
func (p *valueProgram) eval(v *expr.Vars) (json.RawMessage, *Failure) {
	if p.template == nil {
		return p.raw, nil
	}
	raw, err := p.template.Eval(v)
	if err != nil {
		return nil, expressionFailure(err, p.place)
	}
	if tooDeep(raw) {
		return nil, Failf(ErrTypeExpressionFailed, "%s gives a value nested more than %d levels deep; flatten it", p.place, value.MaxDepth)
	}
	return raw, nil
}

// uses reports whether the value reads any of the names.
func (p *valueProgram) uses(names expr.Names) bool {
	return p != nil && p.template != nil && p.template.Uses(names)
}

// caseProgram is a condition ready to be evaluated, and where it leads.
type caseProgram struct {
	place string
	when  *expr.Expression
	to    string
}

func (p *caseProgram) holds(v *expr.Vars) (bool, *Failure) {
	holds, err := p.when.Bool(v)
	if err != nil {
		return false, expressionFailure(err, p.place)
	}
	return holds, nil
}

// expressionFailure is the failure of an evaluation: which expression, where
// it stands in the document, and what went wrong.
func expressionFailure(err error, place string) *Failure {
	var failed *expr.EvalError
	if !errors.As(err, &failed) {
		return Failf(ErrTypeExpressionFailed, "%s: %v", place, err)
	}
	return Failf(failed.Type, "%s: %s in ${ %s }", place, failed.Message, failed.Expression)
}

// nodePrograms are the programs of one node. Those of fields it does not have
// are nil.
type nodePrograms struct {
	node                                      *Node
	args, output, delta, summary, show, until *valueProgram
	input, items, key                         *valueProgram
	recovered, recoveredDelta                 *valueProgram // on_error/output and on_error/delta
	cases, next, onError                      []caseProgram
	while                                     *caseProgram
}

// compilePrograms makes the programs of a compiled node. An error means that
// the node was not compiled, or by another version of the language.
func compilePrograms(language *expr.Compiler, node *Node) (*nodePrograms, error) {
	p := &nodePrograms{node: node}
	for _, s := range node.slots() {
		var err error
		if s.raw != nil {
			err = p.addValue(language, s)
		} else {
			err = p.addCondition(language, s)
		}
		if err != nil {
			return nil, fmt.Errorf("graph: %s: %w", p.place(s), err)
		}
	}
	return p, nil
}

func (p *nodePrograms) place(s slot) string { return "nodes/" + p.node.ID + "/" + s.path }

func (p *nodePrograms) addValue(language *expr.Compiler, s slot) error {
	raw, err := value.Canonical(s.raw) // a node that came in a payload may be written otherwise
	if err != nil {
		return err
	}
	program := &valueProgram{place: p.place(s), raw: raw}
	if !s.literal() {
		var found []expr.TemplateError
		if program.template, found = language.CompileTemplate(s.raw, s.names); len(found) > 0 {
			return found[0].Error
		}
	}
	switch s.field {
	case "args":
		p.args = program
	case "input":
		p.input = program
	case "items":
		p.items = program
	case "key":
		p.key = program
	case "output":
		p.output = program
	case "delta":
		p.delta = program
	case "summary":
		p.summary = program
	case "show":
		p.show = program
	case "until":
		p.until = program
	case "on_error/output":
		p.recovered = program
	case "on_error/delta":
		p.recoveredDelta = program
	}
	return nil
}

func (p *nodePrograms) addCondition(language *expr.Compiler, s slot) error {
	when, err := language.Compile(s.text, s.names)
	if err != nil {
		return err
	}
	program := caseProgram{place: p.place(s), when: when, to: s.to}
	switch s.field {
	case "while":
		p.while = &program
	case "cases":
		p.cases = append(p.cases, program)
	case "on_error":
		p.onError = append(p.onError, program)
	case "next":
		p.next = append(p.next, program)
	}
	return nil
}
