package activities_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

func TestResultsOfAnAction(t *testing.T) {
	t.Parallel()
	show := json.RawMessage(`{"items": [1.0]}`)
	schema := json.RawMessage(`{"type": "boolean"}`)
	for name, c := range map[string]struct {
		result activities.Result
		fields string
		want   string // canonical JSON of the graph.Result
	}{
		"output": {activities.Output(map[string]any{"b": 1, "a": "<"}), "", `{"output":{"a":"<","b":1}}`},
		"zero":   {activities.Result{}, "", `{"output":null}`},
		"output and both deltas": {
			activities.Output(map[string]int{"x": 2}).WithDelta(map[string]int{"count": 5, "m": 6}),
			`delta: {count: "${ result.x + state.count }"}, output: "${ result.x }"`,
			`{"output":2,"delta":{"m":6,"count":3}}`,
		},
		"ok":                            {activities.OK().WithDelta(json.RawMessage(`{"a":1}`)), "", `{"control":"ok","delta":{"a":1}}`},
		"ok, the node's delta":          {activities.OK(), `delta: {count: "${ state.count + 1 }"}`, `{"control":"ok","delta":{"count":2}}`},
		"ok, the node's output":         {activities.OK(), `output: done`, `{"output":"done"}`},
		"stop":                          {activities.Stop("end"), "", `{"control":"stop","output":"end"}`},
		"route":                         {activities.Route("other").WithDelta(map[string]any{"a": nil}), "", `{"control":"route","target":"other","delta":{"a":null}}`},
		"route to the end":              {activities.Route("$end"), "", `{"control":"route","target":"end"}`},
		"route skips the node's values": {activities.Route("other"), `output: "${ result.gone }"`, `{"control":"route","target":"other"}`},
		"pause":                         {activities.Pause(activities.PauseRequest{}), "", `{"control":"pause","pause":{"reason":"pause"}}`},
		"pause in full": {
			activities.Pause(activities.PauseRequest{
				Reason: "approval", Summary: "ok?", Show: show, ResumeSchema: schema, Expires: graph.Duration(time.Hour),
			}), "",
			`{"control":"pause","pause":{"reason":"approval","summary":"ok?","show":{"items":[1]},` +
				`"resume_schema":{"type":"boolean"},"expires":"1h"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(answers(t, c.result).result(c.fields))
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
}

// A long summary is cut where no character is broken.
func TestPauseSummaryIsCut(t *testing.T) {
	t.Parallel()
	r := answers(t, activities.Pause(activities.PauseRequest{Summary: strings.Repeat("é", 3000)})).result("")
	require.Equal(t, strings.Repeat("é", 2048), r.Pause.Summary)
}

// What an action asks for wrongly it would ask for again: the failure is final
// and the action is called once.
func TestInvalidResultsAreFinal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result activities.Result
		fields string
		want   string
	}{
		"output that is not JSON":   {activities.Output(math.NaN()), "", graph.ErrTypeInvalidOutput},
		"output that is not UTF-8":  {activities.Output("\xff"), "", graph.ErrTypeInvalidOutput},
		"output of a channel":       {activities.Output(make(chan int)), "", graph.ErrTypeInvalidOutput},
		"delta that is no object":   {activities.OK().WithDelta([]int{1}), "", graph.ErrTypeInvalidStateDelta},
		"delta that is not JSON":    {activities.OK().WithDelta(func() {}), "", graph.ErrTypeInvalidStateDelta},
		"route to nowhere":          {activities.Route(""), "", graph.ErrTypeInvalidControl},
		"route to no id":            {activities.Route("a b"), "", graph.ErrTypeInvalidControl},
		"pause with broken show":    {activities.Pause(activities.PauseRequest{Show: json.RawMessage("{")}), "", graph.ErrTypeInvalidControl},
		"pause with a large show":   {activities.Pause(activities.PauseRequest{Show: json.RawMessage(`"` + strings.Repeat("x", 2047) + `"`)}), "", graph.ErrTypeInvalidControl},
		"pause with a wrong schema": {activities.Pause(activities.PauseRequest{ResumeSchema: json.RawMessage(`{"type":"strin"}`)}), "", graph.ErrTypeInvalidControl},
		"pause with no schema":      {activities.Pause(activities.PauseRequest{ResumeSchema: json.RawMessage(`nope`)}), "", graph.ErrTypeInvalidControl},
		"pause expired already":     {activities.Pause(activities.PauseRequest{Expires: graph.Duration(-time.Second)}), "", graph.ErrTypeInvalidControl},
		"expression over result":    {activities.Output(1), `output: "${ result.x }"`, graph.ErrTypeExpressionFailed},
		"output schema":             {activities.Output(1), `output_schema: {type: string}`, graph.ErrTypeNodeOutputSchema},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			b := action(setup(t), func(context.Context, json.RawMessage) (activities.Result, error) {
				calls++
				return c.result, nil
			})
			ending := b.failure(c.fields + retrying(c.fields))
			require.Equal(t, c.want, ending.Failure.Type, ending.Failure.Message)
			require.True(t, ending.Final)
			require.Equal(t, 1, ending.Used)
			require.Equal(t, 1, calls)
		})
	}
}

// retrying adds a retry policy to the fields of a node.
func retrying(fields string) string {
	if fields == "" {
		return "retry: {max_attempts: 3}"
	}
	return ", retry: {max_attempts: 3}"
}

func TestSizes(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 2000)
	for name, c := range map[string]struct {
		result activities.Result
		fields string
		fits   bool
	}{
		"output that fits":          {activities.Output(large[:900]), "", true},
		"output too large":          {activities.Output(large), "", false},
		"delta too large":           {activities.OK().WithDelta(map[string]string{"a": large}), "", false},
		"together too large":        {activities.Output(large[:600]).WithDelta(map[string]string{"a": large[:600]}), "", false},
		"evaluated value too large": {activities.Output(large[:600]), `delta: {a: "${ result + result }"}`, false},
		"args too large":            {activities.Output(1), `args: {a: "` + large + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := answers(t, c.result)
			task := b.task(c.fields)
			task.Limits.Payload = 1000
			ending := b.run(task)
			if c.fits {
				require.Equal(t, graph.Returned, ending.Kind)
				return
			}
			require.Equal(t, graph.ErrTypeOutputTooLarge, ending.Failure.Type)
			require.True(t, ending.Final)
		})
	}
}
