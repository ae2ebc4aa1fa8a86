package graph_test

import (
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph"
)

func ExampleCompile() {
	doc := `
id: greet
entry: hello
nodes:
  - {id: hello, type: set, output: "Hello, ${ imput.name }", timeout: 5s, next: end}
`
	_, found := graph.Compile("greet.yaml", []byte(doc), graph.CompileOptions{})
	fmt.Println(found.Error())
	// Output:
	// greet.yaml:5:47: error[unknown_name]: there is no name imput (did you mean input?)
	// greet.yaml:5:62: error[unknown_field]: a node of type set has no field "timeout" (timeout is a field of action, agent, tool, workflow, map, join)
}

func ExampleBuilder() {
	b := graph.NewBuilder("greet")
	b.Add(
		graph.Node{
			ID: "polite", Type: graph.TypeBranch, Default: graph.End,
			Cases: []graph.Case{{When: "input.polite", To: "hello"}},
		},
		graph.Node{ID: "hello", Type: graph.TypeSet, Output: b.Value("Hello, ${ input.name }"), Next: graph.To(graph.End)},
	)
	compiled, found := b.Compile(graph.CompileOptions{})
	fmt.Println(found.Err(), compiled.Document.Entry, len(compiled.Document.Nodes))
	// Output: <nil> polite 2
}

func ExampleMermaid() {
	b := graph.NewBuilder("greet")
	b.Add(graph.Node{ID: "hello", Type: graph.TypeSet, Output: b.Value("hello"), Next: graph.To(graph.End)})
	compiled, _ := b.Compile(graph.CompileOptions{})
	fmt.Print(graph.Mermaid(compiled.Document, nil))
	// Output:
	// flowchart TD
	//     start(("start"))
	//     n1[/"hello<br/>set"/]
	//     finish((("end")))
	//     start --> n1
	//     n1 --> finish
}

func ExampleEvaluator() {
	b := graph.NewBuilder("size")
	b.Add(graph.Node{
		ID: "size", Type: graph.TypeBranch, Default: graph.End,
		Cases: []graph.Case{{When: "size(input.items) > 2", To: "size"}},
	})
	compiled, _ := b.Compile(graph.CompileOptions{})
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := evaluator.Decide(graph.Question{
		Kind: graph.AskBranch, Node: &compiled.Document.Nodes[0],
		Scope: graph.Scope{Input: json.RawMessage(`{"items": [1, 2, 3]}`)},
	})
	fmt.Println(d.To)
	// Output: size
}
