package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/tidemill/tidemill/graph/internal/suggest"
)

// resolver walks a parsed expression once. It finds the names that are used,
// reports those that may not be, and rewrites what CEL would do otherwise: ==
// and != become our own, a map literal is sorted, and secret('X') becomes a
// field of a hidden variable.
type resolver struct {
	text      []rune
	tree      *ast.AST
	make      ast.ExprFactory
	functions []string
	names     Names
	nextID    int64
	locals    []string // variables of the macros around this place
	errors    Errors
	uses      Names
	keys      []string
	all       bool
	secrets   []string
}

func (c *Compiler) resolve(text string, tree *ast.AST, names Names) *resolver {
	r := &resolver{text: []rune(text), tree: tree, make: ast.NewExprFactory(), functions: c.functions, names: names, nextID: ast.MaxID(tree)}
	r.visit(tree.Expr())
	return r
}

func (r *resolver) reads() Reads {
	if r.all {
		return Reads{All: true}
	}
	return Reads{Keys: sortedSet(r.keys)}
}

func (r *resolver) secretNames() []string { return sortedSet(r.secrets) }

func sortedSet(words []string) []string {
	out := slices.Clone(words)
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *resolver) visit(e ast.Expr) {
	if operand, key, ok := fieldOf(e); ok {
		r.field(e, operand, key)
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		r.ident(e)
	case ast.SelectKind:
		r.visit(e.AsSelect().Operand())
	case ast.CallKind:
		r.call(e)
	case ast.ListKind:
		r.visitAll(e.AsList().Elements())
	case ast.MapKind:
		r.mapLiteral(e)
	case ast.ComprehensionKind:
		r.comprehension(e.AsComprehension())
	case ast.StructKind:
		r.fail(e, InvalidExpression, "typed objects such as "+e.AsStruct().TypeName()+"{…} are not part of the language", "write a map: {\"name\": value}")
	case ast.LiteralKind, ast.UnspecifiedExprKind:
	}
}

func (r *resolver) visitAll(es []ast.Expr) {
	for _, e := range es {
		r.visit(e)
	}
}

// fieldOf reads x.key, x.?key, has(x.key), x["key"] and x[?"key"].
func fieldOf(e ast.Expr) (operand ast.Expr, key string, ok bool) {
	if e.Kind() == ast.SelectKind {
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return nil, "", false
	}
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
	default:
		return nil, "", false
	}
	args := e.AsCall().Args()
	if args[1].Kind() != ast.LiteralKind {
		return nil, "", false
	}
	text, ok := args[1].AsLiteral().(types.String)
	return args[0], string(text), ok
}

// field handles the access of a field whose name is known.
func (r *resolver) field(e, operand ast.Expr, key string) {
	path := r.path(operand)
	if known := r.names.fieldsOf(path); known != nil && !slices.Contains(known, key) {
		r.unknownField(e, path, key, known)
	}
	if path == "state" {
		r.keys = append(r.keys, key)
		r.use(operand, "state")
		return
	}
	r.visit(operand)
}

func (r *resolver) unknownField(e ast.Expr, path, key string, known []string) {
	fix := "use one of " + strings.Join(known, ", ")
	if near := suggest.Nearest(key, known); near != "" {
		fix = fmt.Sprintf("did you mean %s.%s?", path, near)
	}
	r.fail(e, UnknownName, fmt.Sprintf("%s has no field %q", path, key), fix)
}

// path spells a chain of known fields that starts at a global name, such as
// run.lane; it is empty for everything else.
func (r *resolver) path(e ast.Expr) string {
	if e.Kind() == ast.IdentKind {
		name, local := r.global(e.AsIdent())
		if local {
			return ""
		}
		return name
	}
	operand, key, ok := fieldOf(e)
	if !ok {
		return ""
	}
	if outer := r.path(operand); outer != "" {
		return outer + "." + key
	}
	return ""
}

// global strips the dot with which .state reaches past a macro's variable, and
// says whether the name is such a variable.
func (r *resolver) global(name string) (string, bool) {
	if stripped, ok := strings.CutPrefix(name, "."); ok {
		return stripped, false
	}
	return name, slices.Contains(r.locals, name)
}

func (r *resolver) ident(e ast.Expr) {
	name, local := r.global(e.AsIdent())
	if local {
		return
	}
	if name == "state" {
		r.all = true
	}
	if !r.fact(e, name) {
		r.use(e, name)
	}
}

// fact makes of the name of a fact that of its variable, where facts have names.
func (r *resolver) fact(e ast.Expr, name string) bool {
	if !r.names.Has(Facts) {
		return false
	}
	for _, f := range facts() {
		switch {
		case f.name != name:
		case r.names.Has(f.bit):
			r.uses |= f.bit
			e.SetKindCase(r.make.NewIdent(e.ID(), factPrefix+name))
			return true
		default:
			r.fail(e, WrongScope, name+" is not available here: this expression makes it", r.namesHere())
			return true
		}
	}
	return false
}

// use checks that a global name exists and is in scope here.
func (r *resolver) use(e ast.Expr, name string) {
	known := typeNames()
	if slices.Contains(known, name) {
		return
	}
	for _, sn := range scopeNames() {
		switch {
		case sn.name != name:
			known = append(known, sn.name)
		case r.names.Has(sn.bit):
			r.uses |= sn.bit
			return
		default:
			r.fail(e, WrongScope, name+" is not available here; it is available "+sn.where, r.namesHere())
			return
		}
	}
	for _, f := range facts() {
		if r.names.Has(f.bit) {
			known = append(known, f.name)
		}
	}
	fix := r.namesHere()
	if near := suggest.Nearest(name, known); near != "" {
		fix = "did you mean " + near + "?"
	}
	r.fail(e, UnknownName, "there is no name "+name, fix)
}

func (r *resolver) namesHere() string {
	if list := r.names.list(); list != "" {
		return "available here: " + list
	}
	return "no names are available here"
}

func (r *resolver) comprehension(c ast.ComprehensionExpr) {
	r.visit(c.IterRange())
	r.visit(c.AccuInit())
	outer := len(r.locals)
	r.locals = append(r.locals, c.AccuVar())
	r.visit(c.Result())
	r.locals = append(r.locals, c.IterVar(), c.IterVar2())
	r.visit(c.LoopCondition())
	r.visit(c.LoopStep())
	r.locals = r.locals[:outer]
}

func (r *resolver) fail(e ast.Expr, code, message, fix string) {
	r.errors = append(r.errors, Error{Code: code, Offset: r.start(e), Message: message, Fix: fix})
}

// start gives the place of an expression. CEL places a call at its parenthesis
// and a typed object at its brace; the reader looks for the name before it.
func (r *resolver) start(e ast.Expr) int {
	span, ok := r.tree.SourceInfo().GetOffsetRange(e.ID())
	if !ok {
		return 0
	}
	name := ""
	switch e.Kind() {
	case ast.CallKind:
		name = e.AsCall().FunctionName()
	case ast.StructKind:
		name = e.AsStruct().TypeName()
	case ast.ComprehensionKind, ast.IdentKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.SelectKind, ast.UnspecifiedExprKind:
	}
	at := min(int(span.Start), len(r.text))
	before := strings.TrimRight(string(r.text[:at]), " \t\r\n")
	if name == "" || !strings.HasSuffix(before, name) {
		return at
	}
	return utf8.RuneCountInString(before) - utf8.RuneCountInString(name)
}
