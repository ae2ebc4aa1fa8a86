package source_test

import (
	"fmt"

	"github.com/tidemill/tidemill/graph/source"
)

func ExampleParse() {
	root, problems := source.Parse([]byte("id: order\nnodes:\n  - {id: a, retry: on}\n"))
	for _, p := range problems {
		fmt.Println(p)
	}
	fmt.Println(root.Get("id").Text, root.Get("nodes").Pos)
	// Output:
	// 3:20: ambiguous_scalar at /nodes/0/retry: on without quotes is text to some readers of YAML and true to others; write "on" in quotes for text, or true
	// order 3:3
}
