package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/graph"
)

// arguments are what a run was started with.
type arguments struct {
	input, options json.RawMessage
	child          json.RawMessage // only from a parent
	carry          json.RawMessage // only from an earlier run of the chain
}

// payloads reads the arguments of a run. The first two are anybody's; the others are
// for runs only, and the server says whether one stands behind them.
func payloads(args converter.EncodedValues, info *workflow.Info) (given arguments, failure *graph.Failure) {
	if args == nil || !args.HasValues() {
		return given, nil
	}
	var child, carry, more converter.RawValue // whatever they are, nil included
	if err := args.Get(&given.input, &given.options, &child, &carry, &more); err != nil {
		return given, graph.Failf(graph.ErrTypeInputSchema, "the arguments of a run are JSON: %v", err)
	}
	given.child, given.carry = dataOf(child), dataOf(carry)
	fromRun := given.carry == nil || info.ContinuedExecutionRunID != ""
	held := given.carry != nil && string(given.child) == "null" // the place of what a child has
	fromParent := given.child == nil || held || info.ParentWorkflowExecution != nil
	if more.Payload() != nil || !fromParent || !fromRun {
		return given, graph.Failf(graph.ErrTypeInvalidRunOptions, "a run takes at most two arguments: its input and its options")
	}
	return given, nil
}

// dataOf is a payload's data; nil only when there is no payload.
func dataOf(v converter.RawValue) json.RawMessage {
	if v.Payload() == nil {
		return nil
	}
	return append(json.RawMessage{}, v.Payload().GetData()...)
}
