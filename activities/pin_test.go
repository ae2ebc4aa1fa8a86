package activities_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/graph"
)

const strictGraph = `
version: 1
id: strict
entry: done
input_schema: {type: object, required: [order], properties: {order: {type: string}}}
nodes: [{id: done, type: set, next: end}]
`

func pinner(t *testing.T, edit func(*activities.Options)) *activities.Activities {
	t.Helper()
	c := catalogue(t, "order-review")
	require.NoError(t, c.AddFile("strict.yaml", []byte(strictGraph)))
	require.NoError(t, c.AddFile("ring.yaml", []byte(calls("ring", "strict"))))
	o := activities.Options{Catalogue: c, SearchAttributes: []string{activities.AttributeGraph}}
	if edit != nil {
		edit(&o)
	}
	acts, err := activities.New(o)
	require.NoError(t, err)
	return acts
}

// Runs that were pinned without admission must never ask for a permit, whatever
// workers they meet later; those of a worker with admission always must.
func TestPinAdmission(t *testing.T) {
	t.Parallel()
	in := activities.PinInput{Graph: "strict", Input: json.RawMessage(`{"order":"7"}`)}
	classify := func(permits.Facts) (permits.Class, error) { return permits.Class{}, nil }
	admitter := struct{ permits.Admitter }{}

	pin, err := pinner(t, nil).Pin(t.Context(), in)
	require.NoError(t, err)
	require.Empty(t, pin.AdmissionDomain)
	raw, err := json.Marshal(pin)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "admission", "histories stay as they were")

	pin, err = pinner(t, func(o *activities.Options) { o.Classifier, o.Admitter = classify, admitter }).Pin(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, permits.DefaultDomain, pin.AdmissionDomain)

	_, err = activities.New(activities.Options{Classifier: classify})
	require.ErrorIs(t, err, activities.ErrAdmission)
	_, err = activities.New(activities.Options{Admitter: admitter})
	require.ErrorIs(t, err, activities.ErrAdmission)
}

func TestPin(t *testing.T) {
	t.Parallel()
	acts := pinner(t, func(o *activities.Options) { o.Limits.Payload = 5000 })
	pin, err := acts.Pin(t.Context(), activities.PinInput{
		Graph: "strict", Input: json.RawMessage(`{"order":"7"}`), Options: json.RawMessage(`{"max_steps":5,"lane":{"app":"a"}}`),
	})
	require.NoError(t, err)
	require.Nil(t, pin.Failure)
	require.Equal(t, activities.Core, pin.Core)
	require.Equal(t, "strict", pin.Document.ID)
	require.Len(t, pin.Fingerprint, 64)
	require.Equal(t, []string{activities.AttributeGraph}, pin.SearchAttributes)
	require.Equal(t, graph.Limits{Payload: 5000, State: graph.DefaultStateLimit}, pin.Limits)
	require.Equal(t, graph.RunOptions{MaxSteps: 5, Lane: graph.Lane{App: "a"}}, pin.Options)

	// What is recorded must make the same graph again.
	raw, err := json.Marshal(pin)
	require.NoError(t, err)
	var back activities.Pin
	require.NoError(t, json.Unmarshal(raw, &back))
	plan, err := graph.NewPlan(back.Document)
	require.NoError(t, err)
	require.Equal(t, pin.Fingerprint, plan.Fingerprint)
}

func TestPinRefusals(t *testing.T) {
	t.Parallel()
	spec := func(text string) string {
		raw, err := json.Marshal(map[string]any{"spec": text})
		require.NoError(t, err)
		return string(raw)
	}
	own := `{"spec":{"version":1,"id":"order-review","entry":"done","nodes":[{"id":"done","type":"set","output":1,"next":"end"}]}}`
	changed := strings.Replace(own, `"output":1`, `"output":2`, 1)
	for name, c := range map[string]struct {
		graph, input, options string
		inline                bool
		want, message         string
	}{
		"unknown graph":          {graph: "order-reveiw", want: graph.ErrTypeUnknownGraph, message: "did you mean order-review?"},
		"nothing like it":        {graph: "x", want: graph.ErrTypeUnknownGraph, message: `no graph "x"`},
		"no input":               {graph: "strict", want: graph.ErrTypeInputSchema},
		"input of another type":  {graph: "order-review", input: `[]`, want: graph.ErrTypeInputSchema},
		"input against schema":   {graph: "strict", input: `{"order":7}`, want: graph.ErrTypeInputSchema},
		"absent input is {}":     {graph: "order-review"},
		"unknown option":         {graph: "order-review", options: `{"deadlin":"1h"}`, want: graph.ErrTypeInvalidRunOptions, message: "deadlin"},
		"the same spec":          {graph: "order-review", options: own},
		"another spec":           {graph: "order-review", options: changed, want: graph.ErrTypeInvalidRunOptions, message: "inline_specs"},
		"another spec, allowed":  {graph: "order-review", options: changed, inline: true},
		"a new spec, allowed":    {graph: "new", options: spec(small("new")), inline: true},
		"a spec under this name": {graph: "other", options: spec(small("new")), inline: true, want: graph.ErrTypeInvalidDocument, message: `"new"`},
		"a broken spec":          {graph: "new", options: spec("{id: new"), inline: true, want: graph.ErrTypeInvalidDocument},
		"a spec with a callback": {graph: "new", options: spec("{version: 1, id: new, entry: x, nodes: [{id: x, type: set, next: {route: {call: unknown}}}]}"), inline: true, want: graph.ErrTypeInvalidDocument, message: "unknown"},
		"a spec with children":   {graph: "new", options: spec(calls("new", "strict")), inline: true},
		"a spec that is lost":    {graph: "new", options: spec(calls("new", "strickt")), inline: true, want: graph.ErrTypeInvalidDocument, message: "did you mean strict?"},
		"a spec in a ring":       {graph: "strict", options: spec(calls("strict", "ring")), inline: true, want: graph.ErrTypeInvalidDocument, message: "strict → ring → strict"},
		"large input":            {graph: "order-review", input: `{"a":"` + strings.Repeat("x", 3000) + `"}`, want: graph.ErrTypeStateTooLarge},
		"large together":         {graph: "order-review", input: `{"a":"` + strings.Repeat("x", 1990) + `"}`, want: graph.ErrTypeStateTooLarge, message: "together"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acts := pinner(t, func(o *activities.Options) {
				o.AllowInlineSpecs, o.Limits = c.inline, graph.Limits{Payload: 2000, State: 2100}
			})
			pin, err := acts.Pin(t.Context(), activities.PinInput{
				Graph: c.graph, Input: json.RawMessage(c.input), Options: json.RawMessage(c.options),
			})
			require.NoError(t, err, "a refusal is recorded, not an error")
			if c.want == "" {
				require.Nil(t, pin.Failure)
				require.Equal(t, c.graph, pin.Document.ID)
				if pin.Document.Nodes[0].Workflow != nil {
					require.Len(t, pin.Document.Graphs, 1)
				}
				require.Empty(t, pin.Options.Spec, "the document is recorded once")
				return
			}
			require.NotNil(t, pin.Failure)
			require.Equal(t, c.want, pin.Failure.Type, pin.Failure.Message)
			require.Contains(t, pin.Failure.Message, c.message)
			require.Nil(t, pin.Document)
		})
	}
}
