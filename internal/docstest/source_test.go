package docstest_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parse reads the Go files that a pattern names, tests left out.
func parse(tb testing.TB, pattern string) []*ast.File {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(root, pattern))
	require.NoError(tb, err)
	var all []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(tb, err)
		all = append(all, file)
	}
	require.NotEmpty(tb, all, "no file matches %s", pattern)
	return all
}

// constants gives the value of each constant of the files, as it is written.
func constants(tb testing.TB, pattern string) map[string]ast.Expr {
	tb.Helper()
	all := map[string]ast.Expr{}
	for _, file := range parse(tb, pattern) {
		ast.Inspect(file, func(n ast.Node) bool {
			if group, ok := n.(*ast.GenDecl); !ok || group.Tok != token.CONST {
				return !ok
			}
			for _, spec := range n.(*ast.GenDecl).Specs {
				one := spec.(*ast.ValueSpec)
				for i, name := range one.Names {
					if i < len(one.Values) {
						all[name.Name] = one.Values[i]
					}
				}
			}
			return false
		})
	}
	return all
}

// words are the values of the text constants whose names have a prefix.
func words(tb testing.TB, pattern, prefix string) []string {
	tb.Helper()
	var all []string
	for name, value := range constants(tb, pattern) {
		literal, ok := value.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || !strings.HasPrefix(name, prefix) {
			continue
		}
		text, err := strconv.Unquote(literal.Value)
		require.NoError(tb, err)
		all = append(all, text)
	}
	require.NotEmpty(tb, all, "%s has no constants %s…", pattern, prefix)
	return all
}

// number is the value of a whole constant of the files.
func number(tb testing.TB, pattern, name string) int64 {
	tb.Helper()
	value, ok := constants(tb, pattern)[name]
	require.True(tb, ok, "%s has no constant %s", pattern, name)
	evaluated, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(value))
	require.NoError(tb, err, "%s = %s", name, types.ExprString(value))
	n, exact := constant.Int64Val(constant.ToInt(evaluated.Value))
	require.True(tb, exact)
	return n
}

// literals are all texts that are written in the files.
func literals(tb testing.TB, pattern string) []string {
	tb.Helper()
	var all []string
	for _, file := range parse(tb, pattern) {
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(tb, err)
				all = append(all, text)
			}
			return true
		})
	}
	return all
}

// tags are the JSON names of the fields of a struct.
func tags(tb testing.TB, pattern, structure string) []string {
	tb.Helper()
	var all []string
	for _, file := range parse(tb, pattern) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != structure {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				tag, err := strconv.Unquote(field.Tag.Value)
				require.NoError(tb, err)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				all = append(all, name)
			}
			return false
		})
	}
	require.NotEmpty(tb, all, "%s has no struct %s", pattern, structure)
	return all
}
