package activities_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

func nothing(context.Context, json.RawMessage) (any, error) { return nil, nil } //nolint:nilnil // an output of null

func TestRegisterNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		"ship": nil, "_x": nil, "pay.card-v2": nil, strings.Repeat("a", 128): nil,
		"": activities.ErrName, "1st": activities.ErrName, "a b": activities.ErrName, "ü": activities.ErrName,
		"tidemill.pin": activities.ErrName, strings.Repeat("a", 129): activities.ErrName,
		"http": activities.ErrRegistered, "fail": activities.ErrRegistered,
	} {
		r := activities.NewRegistry()
		activities.Register(r, name, nothing)
		require.ErrorIs(t, r.Err(), want, "action %q", name)
	}
}

// A program that registers wrongly must hear everything at once when its worker
// is built, not panic while packages are imported.
func TestRegistrationErrorsAreCollected(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	activities.Register(r, "act", nothing)
	activities.Register(r, "act", nothing)
	activities.Register[any, any](r, "none", nil)
	activities.RegisterCallback(r, "c", 0, func(activities.Scope) (bool, error) { return true, nil })
	activities.RegisterCallback(r, "d", 1, func(activities.Scope) (bool, error) { return true, nil })
	activities.RegisterCallback(r, "d", 2, func(activities.Scope) (bool, error) { return true, nil })
	activities.RegisterCallback[bool](r, "e", 1, nil)
	activities.RegisterCallback(r, "tidemill.x", 1, func(activities.Scope) (bool, error) { return true, nil })

	_, err := activities.New(activities.Options{Registry: r, HTTP: activities.HTTPOptions{Hosts: []string{"http://x"}}})
	for _, want := range []error{
		activities.ErrRegistered, activities.ErrFunc, activities.ErrVersion, activities.ErrName, activities.ErrHosts,
	} {
		require.ErrorIs(t, err, want)
	}
	require.Len(t, strings.Split(r.Err().Error(), "\n"), 6)
	require.Equal(t, []string{"act"}, r.Actions(), "the first registration stands")
	require.Equal(t, map[string]int{"d": 1}, r.Callbacks())
}

func TestActionsHoldTheBuiltIn(t *testing.T) {
	t.Parallel()
	acts, err := activities.New(activities.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"fail", "http"}, acts.Actions())
}

// An id above 2^53 must not lose digits on its way through a Go action, not even
// where the action did not say what it is.
func TestNumbersStayExact(t *testing.T) {
	t.Parallel()
	b := action(setup(t), func(_ context.Context, in map[string]any) (any, error) { return in["id"], nil })
	require.JSONEq(t, "9007199254740993", string(b.result("args: {id: 9007199254740993}").Output))
}

func TestArgumentsReachTheAction(t *testing.T) {
	t.Parallel()
	type order struct {
		ID    string `json:"id"`
		Lines []int  `json:"lines"`
	}
	typed := action(setup(t), func(_ context.Context, in order) (order, error) { return in, nil })
	require.JSONEq(t, `{"id":"7","lines":[1,2]}`,
		string(typed.result(`args: {id: "${ input.order }", lines: [1, 2], more: x}`).Output))

	wrong := typed.failure("args: {id: [1]}")
	require.Equal(t, graph.ErrTypeNodeInputSchema, wrong.Failure.Type)
	require.True(t, wrong.Final, "the same arguments would not fit again")

	raw := action(setup(t), func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	require.Equal(t, `{}`, string(raw.result("").Output), "no args are an empty object")
	canonical := `{"a":1,"b":"<&>"}`
	require.Equal(t, canonical, string(raw.result(`args: {b: "<&>", a: 1.0}`).Output))
}

func TestCallbacksSeeTheirScope(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	activities.RegisterCallback(r, "pick", 3, func(s activities.Scope) (string, error) {
		var total json.Number
		found, err := s.State("total", &total)
		if err != nil || !found {
			return "missing", err
		}
		var input struct {
			To string `json:"to"`
		}
		if err := s.Input(&input); err != nil {
			return "", err
		}
		return input.To + ":" + total.String() + ":" + s.Run().Key, nil
	})
	scope := graph.Scope{
		State: value.NewObject(value.Member{Key: "total", Value: json.RawMessage("9007199254740993")}),
		Input: json.RawMessage(`{"to":"ship"}`), Run: graph.RunFacts{Key: "k"},
	}
	got, err := r.Call("pick", scope)
	require.NoError(t, err)
	require.Equal(t, "ship:9007199254740993:k", got)

	got, err = r.Call("pick", graph.Scope{})
	require.NoError(t, err)
	require.Equal(t, "missing", got)

	scope.Input = json.RawMessage(`{"to":1}`)
	_, err = r.Call("pick", scope)
	require.ErrorContains(t, err, "input")

	_, err = r.Call("nobody", scope)
	require.ErrorContains(t, err, `"nobody" is not registered`)
}

func TestArgsFromACallback(t *testing.T) {
	t.Parallel()
	b := action(setup(t), func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	activities.RegisterCallback(b.registry, "make_args", 1, func(s activities.Scope) (map[string]any, error) {
		return map[string]any{"node": s.Run().Node}, nil
	})
	require.JSONEq(t, `{"node":"work"}`, string(b.result("args: {call: make_args}").Output))
}
