package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph/schema"
)

func ExampleCompile() {
	s, _ := schema.Compile(json.RawMessage(`{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}}`))
	fmt.Println(s.Validate(json.RawMessage(`{"approved":true}`)) == nil)
	fmt.Println(s.Validate(json.RawMessage(`{"approved":"yes"}`)))

	_, problems := schema.Compile(json.RawMessage(`{"typ":"object","minLength":-1}`))
	for _, p := range problems {
		fmt.Println(p.Pointer, p.Reason, p.Fix)
	}
	// Output:
	// true
	// schema: expected_type at "/approved": expected boolean, found string
	// /minLength expected_non_negative_integer write for example 1
	// /typ unsupported_keyword did you mean type?
}
