package value_test

import (
	"fmt"

	"github.com/tidemill/tidemill/graph/value"
)

func ExampleCanonical() {
	raw, err := value.Canonical([]byte(`{"b": 1.0, "a": "\u003cb\u003e", "id": 9007199254740993}`))
	fmt.Println(string(raw), err)
	// Output: {"a":"<b>","b":1,"id":9007199254740993} <nil>
}

func ExampleObject_Set() {
	state, _ := value.ParseObject([]byte(`{"order": 7}`))
	state.Set("approved", []byte(`true`))
	fmt.Println(string(state.Raw()), state.Size())
	// Output: {"approved":true,"order":7} 27
}
