package expr

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/tidemill/tidemill/graph/internal/suggest"
)

// newID gives an id to a node that the text does not hold, with the place of
// the one it stands for.
func (r *resolver) newID(instead ast.Expr) int64 {
	r.nextID++
	if span, ok := r.tree.SourceInfo().GetOffsetRange(instead.ID()); ok {
		r.tree.SourceInfo().SetOffsetRange(r.nextID, span)
	}
	return r.nextID
}

func (r *resolver) call(e ast.Expr) {
	call := e.AsCall()
	name := call.FunctionName()
	if name == "secret" && !call.IsMemberFunction() {
		r.secret(e)
		return
	}
	if call.IsMemberFunction() && r.namespaced(call) {
		r.visitAll(call.Args())
		return
	}
	if call.IsMemberFunction() {
		r.visit(call.Target())
	}
	r.visitAll(call.Args())
	switch name {
	case operators.Equals:
		e.SetKindCase(r.make.NewCall(e.ID(), equalName, call.Args()...))
	case operators.NotEquals:
		e.SetKindCase(r.make.NewCall(e.ID(), notEqualName, call.Args()...))
	default:
		r.function(e, name)
	}
}

// namespaced reports whether a call such as optional.of(x) names a function
// with a dot in its name, and not a method of a value.
func (r *resolver) namespaced(call ast.CallExpr) bool {
	if call.Target().Kind() != ast.IdentKind {
		return false
	}
	space, local := r.global(call.Target().AsIdent())
	return !local && slices.Contains(r.functions, space+"."+call.FunctionName())
}

// function reports a function that does not exist. Those that start with a
// sign are operators.
func (r *resolver) function(e ast.Expr, name string) {
	first := name[0]
	letter := first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z'
	if !letter || slices.Contains(r.functions, name) {
		return
	}
	if slices.Contains(macroNames(), name) {
		r.fail(e, InvalidExpression, name+"() does not take these arguments", "write for example list."+name+"(x, x > 1)")
		return
	}
	fix := ""
	if near := suggest.Nearest(name, slices.Concat(macroNames(), []string{"has", "secret"}, r.functions)); near != "" && near != name {
		fix = "did you mean " + near + "()?"
	}
	if slices.Contains([]string{"now", "today", "env", "getenv", "random", "rand", "uuid"}, name) {
		fix = "expressions have no clock, environment or random source; use run.started or run.key, or give the value in the input"
	}
	r.fail(e, UnknownName, "there is no function "+name+"()", fix)
}

// secret rewrites secret('NAME') to a field of the hidden variable, which is
// resolved when the expression is evaluated.
func (r *resolver) secret(e ast.Expr) {
	if !r.names.Has(Secret) {
		r.fail(e, SecretNotAllowed, "secret() is allowed only in the args of an action, a tool or a Go agent, so that no secret reaches the history",
			"move it into args")
		return
	}
	args := e.AsCall().Args()
	if len(args) == 1 && args[0].Kind() == ast.LiteralKind {
		if name, ok := args[0].AsLiteral().(types.String); ok && name != "" {
			r.secrets = append(r.secrets, string(name))
			r.uses |= Secret
			e.SetKindCase(r.make.NewSelect(e.ID(), r.make.NewIdent(r.newID(e), secretsName), string(name)))
			return
		}
	}
	r.fail(e, SecretNotAllowed, "secret() takes one name, written out", "write secret('NAME')")
}

func (r *resolver) mapLiteral(e ast.Expr) {
	seen := map[string]bool{}
	for _, entry := range e.AsMap().Entries() {
		key := entry.AsMapEntry().Key()
		if key.Kind() == ast.LiteralKind {
			if text, ok := key.AsLiteral().(types.String); ok {
				r.repeated(key, string(text), seen)
			}
		}
		r.visit(key)
		r.visit(entry.AsMapEntry().Value())
	}
	literal := r.make.NewMap(r.newID(e), e.AsMap().Entries())
	e.SetKindCase(r.make.NewCall(e.ID(), sortedName, literal))
}

// repeated reports a key that a map literal gives twice; one value would be
// lost without a word.
func (r *resolver) repeated(key ast.Expr, text string, seen map[string]bool) {
	if seen[text] {
		r.fail(key, InvalidExpression, fmt.Sprintf("the key %q is written twice", text), "remove one of the two")
	}
	seen[text] = true
}
