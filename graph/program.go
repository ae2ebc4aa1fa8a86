package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/schema"
	"github.com/tidemill/tidemill/graph/value"
)

// Language compiles the programs of nodes. It is costly to make and may not be
// used by several goroutines at once; the programs it gives may.
type Language struct {
	compiler *expr.Compiler
}

// NewLanguage builds the expression language.
func NewLanguage() (*Language, error) {
	compiler, err := expr.NewCompiler()
	if err != nil {
		return nil, err
	}
	return &Language{compiler}, nil
}

// Program evaluates what a node's activity evaluates: its arguments before the
// action runs, its output and delta after. It is safe for concurrent use.
type Program struct {
	programs      *nodePrograms
	input, output *schema.Schema
}

// CompileTask makes the program of one node. Programs of equal nodes are equal,
// so a worker may keep them by the node's canonical form.
func (l *Language) CompileTask(node *Node) (*Program, error) {
	programs, err := compilePrograms(l.compiler, node)
	if err != nil {
		return nil, err
	}
	p := &Program{programs: programs}
	if p.input, err = compileSchema(node.InputSchema); err != nil {
		return nil, err
	}
	if p.output, err = compileSchema(node.OutputSchema); err != nil {
		return nil, err
	}
	return p, nil
}

// CompileTask makes the program of one node in a language of its own.
func CompileTask(node *Node) (*Program, error) {
	language, err := NewLanguage()
	if err != nil {
		return nil, err
	}
	return language.CompileTask(node)
}

// compileSchema makes a schema ready; nil, which fits everything, when there is
// none.
func compileSchema(raw json.RawMessage) (*schema.Schema, error) {
	if raw == nil {
		return nil, nil //nolint:nilnil // no schema is no error
	}
	compiled, found := schema.Compile(raw)
	if len(found) > 0 {
		return nil, found[0]
	}
	return compiled, nil
}

// Args are the arguments of the action: an object, {} when the node has none.
// The node's input is checked first. Secrets come from the given function,
// which may be nil when the worker allows none.
func (p *Program) Args(t *Task, secret func(name string) (string, error)) (json.RawMessage, *Failure) {
	if failure := p.checkInput(t); failure != nil {
		return nil, failure
	}
	if name := p.programs.node.ArgsCall; name != "" {
		return nil, Failf(ErrTypeExpressionFailed, "the arguments come from the callback %q, which is not registered", name)
	}
	if p.programs.args == nil {
		return json.RawMessage("{}"), nil
	}
	s := &evaluation{scope: taskScope(t)}
	vars := s.vars(p.programs.args.uses)
	vars.Secret = secret
	return p.programs.args.eval(vars)
}

// CallArgs are the arguments that a callback gives, for a node with ArgsCall;
// for every other it does what [Program.Args] does.
func (p *Program) CallArgs(t *Task, callbacks Callbacks, secret func(name string) (string, error)) (json.RawMessage, *Failure) {
	name := p.programs.node.ArgsCall
	if name == "" {
		return p.Args(t, secret)
	}
	if failure := p.checkInput(t); failure != nil {
		return nil, failure
	}
	return callCallback(callbacks, name, ErrTypeExpressionFailed, taskScope(t))
}

func (p *Program) checkInput(t *Task) *Failure {
	return checkValue(p.input, orNull(t.Input), ErrTypeNodeInputSchema)
}

// Finish gives the node's output and delta after its action returned. Result is
// what expressions see by that name; output is the action's own, which the
// node's output field replaces. The failure of an output that does not fit
// output_schema is final: the action has run.
func (p *Program) Finish(t *Task, result, output json.RawMessage) (json.RawMessage, value.Object, *Failure) {
	scope := taskScope(t)
	scope.Result = result
	s := &evaluation{scope: scope}
	d, failure := s.values(p.programs.output, p.programs.delta)
	if failure != nil {
		return nil, nil, failure
	}
	if d.Output == nil {
		d.Output = orNull(output)
	}
	if failure := checkValue(p.output, d.Output, ErrTypeNodeOutputSchema); failure != nil {
		return nil, nil, failure
	}
	return d.Output, d.Delta, nil
}

func taskScope(t *Task) Scope {
	return Scope{State: t.State, Input: t.Input, Item: t.Item, Index: t.Index, Run: t.Run}
}

// checkValue holds a value against a schema; a nil schema fits everything.
func checkValue(s *schema.Schema, raw json.RawMessage, errorType string) *Failure {
	if s == nil {
		return nil
	}
	failure := violation(s.Validate(raw))
	if failure != nil {
		failure.Type = errorType
	}
	return failure
}
