package expr_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

// A document of 1,000 expressions must compile well under 100 ms.
func BenchmarkCompile1000(b *testing.B) {
	c := setup(b)
	for b.Loop() {
		for i := range 1000 {
			_, err := c.Compile(fmt.Sprintf("state.k%d.total + %d > input.limit", i, i), expr.State|expr.Input)
			require.NoError(b, err)
		}
	}
}

func BenchmarkNewCompiler(b *testing.B) {
	for b.Loop() {
		setup(b)
	}
}

func BenchmarkBool(b *testing.B) {
	e, err := setup(b).Compile("state.n > input.n && state.name == 'ada'", everything)
	require.NoError(b, err)
	v := vars(b)
	b.ReportAllocs()
	for b.Loop() {
		_, err := e.Bool(v)
		require.NoError(b, err)
	}
}

func BenchmarkTemplate(b *testing.B) {
	t, errs := setup(b).CompileTemplate(json.RawMessage(`{"a":"${ state.o }","b":"n is ${ state.n }"}`), everything)
	require.Empty(b, errs)
	v := vars(b)
	b.ReportAllocs()
	for b.Loop() {
		_, err := t.Eval(v)
		require.NoError(b, err)
	}
}
