package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// outside makes attempts without Temporal.
func outside(t *testing.T, r *activities.Registry) func(fields string, locally bool) graph.Ending {
	t.Helper()
	acts, err := activities.New(activities.Options{Registry: r})
	require.NoError(t, err)
	return func(fields string, locally bool) graph.Ending {
		compiled, found := graph.Compile("x.yaml", []byte("id: x\nentry: a\nnodes: [{id: a, run: act, next: end"+fields+"}]\n"), graph.CompileOptions{})
		require.NoError(t, found.Err())
		return acts.Attempt(context.Background(), graph.Task{Node: &compiled.Document.Nodes[0], Input: json.RawMessage("{}")}, locally)
	}
}

// An attempt outside of Temporal takes the same way: args, output, failures, panics and
// sizes, and a missing action is an interruption.
func TestAttemptOutside(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	answer := func(context.Context) (any, error) { return 1, nil }
	activities.Register(r, "act", func(ctx context.Context, in struct{ By int }) (any, error) {
		given, err := answer(ctx)
		if n, ok := given.(int); ok {
			given = n + in.By
		}
		return given, err
	})
	attempt := outside(t, r)
	end := attempt(`, args: {by: 2}, output: "${ result * 10 }"`, false)
	require.Equal(t, graph.Returned, end.Kind)
	require.Equal(t, "30", string(end.Result.Output))

	answer = func(context.Context) (any, error) { return nil, errors.New("no") }
	require.Equal(t, graph.ErrTypeActionException, attempt("", false).Failure.Type)
	answer = func(context.Context) (any, error) { panic("oh") }
	require.Contains(t, attempt("", false).Failure.Message, "oh")
	answer = func(ctx context.Context) (any, error) {
		return string(make([]byte, activities.MaxLocalResult/6)), ctx.Err()
	}
	require.Equal(t, graph.Returned, attempt("", false).Kind)
	require.Equal(t, graph.ErrTypeOutputTooLarge, attempt("", true).Failure.Type)

	none := outside(t, activities.NewRegistry())("", false)
	require.Equal(t, graph.InterruptNotRegistered, none.Interruption)
}

// With puts an action in the place of another, a built-in one too, and leaves the
// registry it was asked of as it was.
func TestWith(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	activities.Register(r, "act", func(context.Context, any) (int, error) { return 1, nil })
	two := func(context.Context, json.RawMessage) (activities.Result, error) { return activities.Output(2), nil }
	changed := r.With("act", two).With(activities.NameHTTP, two)
	require.Equal(t, "2", string(outside(t, changed)("", false).Result.Output))
	require.Equal(t, "1", string(outside(t, r)("", false).Result.Output))

	_, known := r.Action("none")
	require.False(t, known)
	_, known = r.Action(activities.NameFail)
	require.True(t, known)
	require.ErrorIs(t, r.With("a b", two).Err(), activities.ErrName)
	require.ErrorIs(t, r.With("act", nil).Err(), activities.ErrFunc)
	require.NoError(t, r.Err())
}

type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// An action http that something else carries reaches no network, whatever the host; it
// still refuses what no worker would send.
func TestHTTPAction(t *testing.T) {
	t.Parallel()
	sent := 0
	act := activities.HTTPAction(carrier(func(r *http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r, Header: http.Header{}}, nil
	}))
	_, err := act(t.Context(), json.RawMessage(`{"url":"http://10.0.0.1/x"}`))
	var typed *activities.Error
	require.ErrorAs(t, err, &typed)
	require.Equal(t, "http_404", typed.Type)
	_, err = act(t.Context(), json.RawMessage(`{"url":"http://me:secret@host/x"}`))
	require.ErrorAs(t, err, &typed)
	require.Equal(t, graph.ErrTypeHTTPHostRefused, typed.Type)
	require.Equal(t, 1, sent)
}

// What a node is to do reads the same in a fake as in an endpoint's answer.
func TestParseResult(t *testing.T) {
	t.Parallel()
	_, err := activities.ParseResult(json.RawMessage(`{"output":1,"delta":{"a":1}}`))
	require.NoError(t, err)
	for _, wrong := range []string{`{`, `7`, `{"output":1,"stop":2}`, `{"outputs":1}`} {
		_, err := activities.ParseResult(json.RawMessage(wrong))
		var typed *activities.Error
		require.ErrorAs(t, err, &typed, wrong)
		require.Equal(t, graph.ErrTypeInvalidActionResult, typed.Type)
	}
}
