package expr_test

import (
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

func ExampleCompiler_Compile() {
	c, err := expr.NewCompiler()
	if err != nil {
		panic(err)
	}
	state := value.NewObject(value.Member{Key: "total", Value: json.RawMessage("9007199254740993")})

	e, _ := c.Compile("state.total + 1", expr.State)
	raw, _ := e.Eval(&expr.Vars{State: state})
	fmt.Println(string(raw), e.Reads().Keys)

	_, err = c.Compile("resutl.total", expr.State|expr.Result)
	fmt.Println(err)
	// Output:
	// 9007199254740994 [total]
	// expr: unknown_name at character 1: there is no name resutl; did you mean result?
}

func ExampleCompiler_CompileTemplate() {
	c, err := expr.NewCompiler()
	if err != nil {
		panic(err)
	}
	t, _ := c.CompileTemplate(json.RawMessage(`{"url":"/orders/${ input.id }","items":"${ input.items }"}`), expr.Input)
	raw, _ := t.Eval(&expr.Vars{Input: json.RawMessage(`{"id":7,"items":[1,2]}`)})
	fmt.Println(string(raw))
	// Output: {"items":[1,2],"url":"/orders/7"}
}
