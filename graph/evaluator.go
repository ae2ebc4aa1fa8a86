package graph

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/schema"
	"github.com/tidemill/tidemill/graph/value"
)

// AskArgs asks for the arguments of an activity that is not ours, which has no
// wrapper to evaluate them: Node.Args or ArgsCall gives Output.
const AskArgs QuestionKind = "args"

// Callbacks are the Go functions that a graph names. The worker's registry is
// one; a nil Callbacks has none.
type Callbacks interface {
	// Call runs a callback and gives a value that has a JSON form: a target for
	// a choice or a route, a truth value for a loop, anything for args. It must
	// be safe for concurrent use.
	Call(name string, scope Scope) (any, error)
}

// Evaluator answers the questions of a machine: it evaluates expressions, calls
// callbacks and checks schemas. It is the [Decider] that knows every answer. It
// is costly to make and safe for concurrent use: keep one for each graph.
type Evaluator struct {
	callbacks Callbacks
	nodes     map[string]*nodePrograms
	schemas   map[string]*schema.Schema // by canonical text
}

// NewEvaluator compiles the programs of a compiled document. An error means
// that this version of the language does not accept the document.
func NewEvaluator(doc *Document, callbacks Callbacks) (*Evaluator, error) {
	language, err := expr.NewCompiler()
	if err != nil {
		return nil, err
	}
	e := &Evaluator{callbacks: callbacks, nodes: make(map[string]*nodePrograms, len(doc.Nodes)), schemas: map[string]*schema.Schema{}}
	all := []json.RawMessage{doc.InputSchema, doc.OutputSchema}
	for _, node := range doc.activated() {
		if e.nodes[node.ID], err = compilePrograms(language, node); err != nil {
			return nil, err
		}
		all = append(all, node.InputSchema, node.OutputSchema, node.ResumeSchema)
	}
	for _, raw := range all {
		if compiled, found := schema.Compile(raw); raw != nil && len(found) == 0 {
			e.schemas[string(raw)] = compiled
		}
	}
	return e, nil
}

// Decide answers a question. It always has an answer; what goes wrong is the
// decision's Failure.
func (e *Evaluator) Decide(q Question) (Decision, bool) {
	if q.Kind == AskSchema {
		return Decision{Failure: e.fits(q.Schema, q.Subject)}, true
	}
	if q.Node == nil || e.nodes[q.Node.ID] == nil {
		return Decision{Failure: Failf(ErrTypeExpressionFailed, "the evaluator does not know the node asked about")}, true
	}
	d, failure := e.decide(e.nodes[q.Node.ID], q)
	if failure != nil {
		return Decision{Failure: failure}, true
	}
	return d, true
}

func (e *Evaluator) decide(p *nodePrograms, q Question) (Decision, *Failure) {
	s := &evaluation{scope: q.Scope}
	switch q.Kind {
	case AskRoute:
		if p.node.Next.Call != "" {
			return e.callTarget(p.node.Next.Call, q.Scope)
		}
		return s.choose(p.next, p.node.Next.Default)
	case AskOnError:
		return s.choose(p.onError, p.node.OnError.Default)
	case AskBranch:
		if p.node.Choose != "" {
			return e.callChoice(p.node, q.Scope)
		}
		return s.choose(p.cases, p.node.Default)
	case AskWhile:
		if p.node.WhileCall != "" {
			return e.callWhile(p.node.WhileCall, q.Scope)
		}
		holds, failure := p.while.holds(s.vars(p.while.when.Uses))
		return Decision{Holds: holds}, failure
	case AskValues:
		return s.values(p.output, p.delta)
	case AskRecover:
		return s.values(p.recovered, p.recoveredDelta)
	case AskMerge:
		return e.callMerge(p.node.MergeCall, q)
	case AskPause:
		return s.pause(p)
	case AskUntil:
		return s.until(p)
	case AskArgs:
		return e.args(p, s)
	case AskInput:
		return s.childInput(p)
	case AskItems:
		return s.mapItems(p)
	case AskSchema:
	}
	return Decision{}, Failf(ErrTypeExpressionFailed, "there is no question %q", q.Kind)
}

// args gives the arguments of a node; {} when it has none.
func (e *Evaluator) args(p *nodePrograms, s *evaluation) (Decision, *Failure) {
	var raw json.RawMessage
	var failure *Failure
	switch {
	case p.node.ArgsCall != "":
		raw, failure = e.call(p.node.ArgsCall, ErrTypeExpressionFailed, s.scope)
	case p.args != nil:
		raw, failure = p.args.eval(s.vars(p.args.uses))
	default:
		raw = json.RawMessage("{}")
	}
	return Decision{Output: raw}, failure
}

// fits checks a value against a schema. The failure has no type: the machine
// knows what the value is.
func (e *Evaluator) fits(raw, subject json.RawMessage) *Failure {
	compiled, known := e.schemas[string(raw)]
	if !known {
		var found []schema.Error
		if compiled, found = schema.Compile(raw); len(found) > 0 {
			return Failf("", "the schema is not valid: %s", found[0].Error())
		}
	}
	return violation(compiled.Validate(subject))
}

// violation is a schema's refusal as a failure without a type.
func violation(v *schema.Violation) *Failure {
	if v == nil {
		return nil
	}
	at := v.Pointer
	if at == "" {
		at = "the value"
	}
	return Failf("", "%s: %s (%s)", at, v.Message, v.Reason)
}

// callTarget asks a callback where an edge leads. The machine checks that the
// target exists.
func (e *Evaluator) callTarget(name string, scope Scope) (Decision, *Failure) {
	raw, failure := e.call(name, ErrTypeRouteFailed, scope)
	if failure != nil {
		return Decision{}, failure
	}
	var target string
	if value.KindOf(raw) != value.KindString || json.Unmarshal(raw, &target) != nil || target == "" {
		return Decision{}, Failf(ErrTypeRouteFailed, "the callback %q must give a node id or end, and gave %s", name, value.KindOf(raw))
	}
	return Decision{To: spellEnd(target)}, nil
}

// callChoice asks a callback which of a branch's targets to take.
func (e *Evaluator) callChoice(node *Node, scope Scope) (Decision, *Failure) {
	d, failure := e.callTarget(node.Choose, scope)
	if failure != nil {
		return d, failure
	}
	if !slices.Contains(node.Targets, d.To) {
		return Decision{}, Failf(ErrTypeTargetNotAllowed, "the callback %q chose %q, which is not among the targets", node.Choose, d.To)
	}
	return d, nil
}

// callWhile asks a callback whether a loop takes another turn.
func (e *Evaluator) callWhile(name string, scope Scope) (Decision, *Failure) {
	raw, failure := e.call(name, ErrTypeGraphLoopFailed, scope)
	if failure != nil {
		return Decision{}, failure
	}
	if value.KindOf(raw) != value.KindBool {
		return Decision{}, Failf(ErrTypeGraphLoopFailed, "the callback %q must give true or false, and gave %s", name, value.KindOf(raw))
	}
	return Decision{Holds: string(raw) == "true"}, nil
}

// callMerge asks a callback for the one delta of a fork. Its input is what the
// branches gave.
func (e *Evaluator) callMerge(name string, q Question) (Decision, *Failure) {
	scope := q.Scope
	scope.Input = q.Subject
	raw, failure := e.call(name, ErrTypeForkMergeFailed, scope)
	if failure != nil {
		return Decision{}, failure
	}
	if value.KindOf(raw) != value.KindObject {
		return Decision{}, Failf(ErrTypeForkMergeFailed, "the callback %q must give an object of state keys, and gave %s", name, value.KindOf(raw))
	}
	delta, err := value.ParseObject(raw)
	if err != nil {
		return Decision{}, Failf(ErrTypeForkMergeFailed, "the callback %q gave no object that can be kept: %v", name, err)
	}
	return Decision{Delta: delta}, nil
}

// call runs a callback. One that panics has failed.
func (e *Evaluator) call(name, errorType string, scope Scope) (raw json.RawMessage, failure *Failure) {
	return callCallback(e.callbacks, name, errorType, scope)
}

func callCallback(callbacks Callbacks, name, errorType string, scope Scope) (raw json.RawMessage, failure *Failure) {
	if callbacks == nil {
		return nil, Failf(errorType, "the callback %q is not registered", name)
	}
	defer func() {
		if r := recover(); r != nil {
			raw, failure = nil, Failf(errorType, "the callback %q panicked: %v", name, r)
		}
	}()
	given, err := callbacks.Call(name, scope)
	if err == nil {
		raw, err = value.Marshal(given)
	}
	if err != nil {
		return nil, Failf(errorType, "the callback %q failed: %s", name, fmt.Sprint(err))
	}
	return raw, nil
}
