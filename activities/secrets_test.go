package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// vault has one secret.
type vault string

func (v vault) Lookup(name string) (string, error) {
	switch name {
	case "TOKEN":
		return string(v), nil
	case "AWAY":
		return "", errors.New("the vault is sealed")
	default:
		return "", fmt.Errorf("%w: %q", activities.ErrSecretNotAllowed, name)
	}
}

const canary = `hush "quoted" & secret/value+1`

func TestSecretsReachTheActionAndNothingElse(t *testing.T) {
	t.Parallel()
	b := action(setup(t), func(ctx context.Context, in map[string]string) (any, error) {
		if err := activities.Heartbeat(ctx, in); err != nil {
			return nil, err
		}
		if in["fail"] != "" {
			return nil, activities.NewError("denied", "bad token "+in["token"]).WithDetails(in)
		}
		return in["token"] == canary, nil
	})
	b.options.Secrets = vault(canary)
	require.Equal(t, "true", string(b.result(`args: {token: "${ secret('TOKEN') }"}`).Output))

	failed := b.failure(`args: {token: "Bearer ${ secret('TOKEN') }", fail: "y"}`)
	text, err := json.Marshal(failed)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hush")
	require.Equal(t, "bad token Bearer ***", failed.Failure.Message)
	require.JSONEq(t, `{"token":"Bearer ***","fail":"y"}`, string(failed.Failure.Details))
}

// An endpoint that echoes what it was sent must not carry a token into history.
func TestSecretsAreTakenOutOfResults(t *testing.T) {
	t.Parallel()
	b := action(setup(t), func(_ context.Context, in map[string]string) (activities.Result, error) {
		return activities.Output(in).WithDelta(in), nil
	})
	b.options.Secrets = vault(canary)
	got := b.result(`args: {token: "${ secret('TOKEN') }", other: x}`)
	require.JSONEq(t, `{"token":"***","other":"x"}`, string(got.Output))
	require.JSONEq(t, `{"token":"***","other":"x"}`, string(got.Delta.Raw()))

	b.options.Secrets = vault("abc") // so short that it may be anybody's data
	require.JSONEq(t, `{"token":"abc","other":"x"}`, string(b.result(`args: {token: "${ secret('TOKEN') }", other: x}`).Output))
}

func TestSecretsInURLsStayOutOfMessages(t *testing.T) {
	t.Parallel()
	b, server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `"no"`)
	})
	b.options.Secrets = vault("hush hush")
	task := b.task("")
	task.Node = nodeOf(t, `run: http, args: {url: "`+server.URL+`/${ secret('TOKEN') }", headers: {authorization: "${ secret('TOKEN') }"}}`)
	ending := b.run(task)
	require.Equal(t, "http_404", ending.Failure.Type)
	require.NotContains(t, ending.Failure.Message, "hush")
}

func TestSecretsThatAreNotToBeHad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, want string
		final      bool
	}{
		"not allowed": {`{token: "${ secret('OTHER') }"}`, graph.ErrTypeSecretNotAllowed, true},
		"away":        {`{token: "${ secret('AWAY') }"}`, graph.ErrTypeActionException, false},
	} {
		calls := 0
		b := action(setup(t), func(context.Context, json.RawMessage) (any, error) { calls++; return 1, nil })
		b.options.Secrets = vault(canary)
		ending := b.failure("args: " + c.args)
		require.Equal(t, c.want, ending.Failure.Type, name)
		require.Equal(t, c.final, ending.Final, name)
		require.Zero(t, calls, "the action must not run without its arguments")
	}
	ending := returns(t, 1, nil).failure(`args: {token: "${ secret('TOKEN') }"}`)
	require.Equal(t, graph.ErrTypeSecretNotAllowed, ending.Failure.Type, "a worker without secrets allows none")
	require.Contains(t, ending.Failure.Message, "secrets.names")
}

func TestEnvSecrets(t *testing.T) {
	t.Setenv("TIDEMILL_TEST_SECRET", "value")
	t.Setenv("TIDEMILL_TEST_OTHER", "value")
	s := activities.EnvSecrets("TIDEMILL_TEST_SECRET", "TIDEMILL_TEST_UNSET")
	v, err := s.Lookup("TIDEMILL_TEST_SECRET")
	require.NoError(t, err)
	require.Equal(t, "value", v)
	_, err = s.Lookup("TIDEMILL_TEST_OTHER")
	require.ErrorIs(t, err, activities.ErrSecretNotAllowed)
	_, err = s.Lookup("TIDEMILL_TEST_UNSET")
	require.ErrorContains(t, err, "does not set it")
	require.NotErrorIs(t, err, activities.ErrSecretNotAllowed)
}
