package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/parser"
)

// Compiler compiles expressions and templates. It is costly to make and cheap
// to use: make one and keep it. It may not be used by several goroutines at
// once; the expressions it gives may.
type Compiler struct {
	env       *cel.Env
	parser    *parser.Parser
	checker   *checker.Env
	functions []string
}

// NewCompiler builds the language. It fails only when the CEL library does not
// fit this package, which a test of the program shows.
func NewCompiler() (*Compiler, error) {
	env, err := cel.NewCustomEnv(library()...)
	if err != nil {
		return nil, fmt.Errorf("expr: build the language: %w", err)
	}
	parse, err := newParser(env)
	if err != nil {
		return nil, fmt.Errorf("expr: build the parser: %w", err)
	}
	check, err := newChecker(env)
	if err != nil {
		return nil, fmt.Errorf("expr: build the checker: %w", err)
	}
	return &Compiler{env: env, parser: parse, checker: check, functions: functionNames(env.Functions())}, nil
}

// newParser gives the library's hand-written parser. The generated one, which
// an environment uses by itself, takes longer than everything else together.
func newParser(env *cel.Env) (*parser.Parser, error) {
	return parser.NewParser(
		parser.Macros(env.Macros()...),
		parser.EnableOptionalSyntax(true),
		parser.EnableHiddenAccumulatorName(true),
		parser.MaxRecursionDepth(maxDepth),
		parser.EnablePrattParser(true),
	)
}

func newChecker(env *cel.Env) (*checker.Env, error) {
	check, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(true))
	if err != nil {
		return nil, err
	}
	if err := check.AddIdents(env.Variables()...); err != nil {
		return nil, err
	}
	functions := env.Functions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		if err := check.AddFunctions(functions[name]); err != nil {
			return nil, err
		}
	}
	return check, nil
}

// Compile parses and checks one expression in which the given names are in
// scope. The error is an [Errors] with everything that is wrong.
func (c *Compiler) Compile(text string, names Names) (*Expression, error) {
	if !utf8.ValidString(text) {
		return nil, Errors{{Code: InvalidExpression, Message: "the text is not valid UTF-8"}}
	}
	if strings.TrimSpace(text) == "" {
		return nil, Errors{{Code: InvalidExpression, Message: "the expression is empty", Fix: "write an expression such as state.total > 10"}}
	}
	source := common.NewTextSource(text)
	parsed, issues := c.parser.Parse(source)
	if len(issues.GetErrors()) > 0 {
		return nil, celErrors(text, issues.GetErrors())
	}
	found := c.resolve(text, parsed, names)
	if len(found.errors) > 0 {
		return nil, inOrder(found.errors)
	}
	checked, issues := checker.Check(parsed, source, c.checker)
	if len(issues.GetErrors()) > 0 {
		return nil, celErrors(text, issues.GetErrors())
	}
	program, err := c.env.PlanProgram(checked, cel.CostLimit(costLimit), cel.CostTracking(costs{}))
	if err != nil {
		return nil, Errors{{Code: InvalidExpression, Message: err.Error()}}
	}
	return &Expression{text: text, program: program, reads: found.reads(), secrets: found.secretNames(), uses: found.uses}, nil
}

// inOrder sorts errors by place and drops repetitions.
func inOrder(errs Errors) Errors {
	slices.SortStableFunc(errs, func(a, b Error) int { return a.Offset - b.Offset })
	return slices.Compact(errs)
}
