package activities_test

import (
	"context"
	"fmt"

	"github.com/tidemill/tidemill/activities"
)

type order struct {
	ID    string `json:"id"`
	Total int    `json:"total"`
}

// An action is a Go function; what it needs to know of its run comes from its
// context.
func ExampleRegister() {
	registry := activities.NewRegistry()
	activities.Register(registry, "charge", func(ctx context.Context, in order) (activities.Result, error) {
		if in.Total > 1000 {
			return activities.Pause(activities.PauseRequest{Summary: "Order " + in.ID + " is over the limit"}), nil
		}
		key := activities.Info(ctx).Key // the same when the action is called again
		if key == "" {
			return activities.Result{}, activities.NewError("no_key", "cannot charge twice safely").NotRetryable()
		}
		return activities.Output("charged").WithDelta(map[string]bool{"charged": true}), nil
	})

	acts, err := activities.New(activities.Options{Registry: registry})
	fmt.Println(acts.Actions(), err)
	// Output: [charge fail http] <nil>
}

// A callback decides where an expression would be too long. Its version is part
// of the fingerprint of the graphs that name it.
func ExampleRegisterCallback() {
	registry := activities.NewRegistry()
	activities.RegisterCallback(registry, "next_step", 1, func(s activities.Scope) (string, error) {
		var o order
		if _, err := s.State("order", &o); err != nil {
			return "", err
		}
		if o.Total > 1000 {
			return "approve", nil
		}
		return "ship", nil
	})
	fmt.Println(registry.Callbacks(), registry.Err())
	// Output: map[next_step:1] <nil>
}

// A catalogue says everything that is wrong with its graphs at once.
func ExampleCatalogue() {
	catalogue := activities.NewCatalogue(activities.NewRegistry())
	err := catalogue.AddFile("greet.yaml", []byte(`
version: 1
id: greet
entry: hello
nodes:
  - {id: hello, type: set, output: "Hello, ${ input.name }", next: end}
`))
	fmt.Println(catalogue.IDs(), err)
	fmt.Println(catalogue.Near("great"))
	// Output:
	// [greet] <nil>
	// [greet]
}
