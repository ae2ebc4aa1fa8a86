package workflows_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/proto"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/workflows"
)

const numbers = `
version: 1
id: numbers
entry: ask
nodes:
  - {id: ask, type: pause, delta: {answer: "${ result.id }"}, next: call}
  - id: call
    run: echo
    args: {id: "${ state.id }", answer: "${ state.answer }", literal: 9007199254740993, sum: "${ state.id + 2 }"}
    delta: {back: "${ result }"}
    next: end
`

// F5: an id above 2^53 must come out as it went in, through input, state, signal,
// args, Go action, delta and output: a float on the way changes it silently.
func TestNumbersStayExact(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{numbers}, register: func(r *activities.Registry) {
		activities.Register(r, "echo", func(_ context.Context, in map[string]any) (map[string]any, error) { return in, nil })
	}})
	const big = "9007199254740993"
	run := w.run("numbers", json.RawMessage(`{"id":`+big+`}`))
	w.paused(run)
	w.cli(run, "workflow", "signal", "--name", "resume", "--input", `{"id":`+big+`}`)
	want := `{"answer":` + big + `,"id":` + big + `,"literal":` + big + `,"sum":9007199254740995}`
	require.Equal(t, want, w.output(run))
	require.Equal(t, `{"answer":`+big+`,"back":`+want+`,"id":`+big+`}`, canonical(t, w.status(run).State))
	require.Contains(t, string(w.checkpoint(run).State.Raw()), `"answer":`+big)

	other := w.run("numbers", json.RawMessage(`{"id":-`+big+`}`))
	w.paused(other)
	_, err := w.update(other, "", workflows.ResumeInput{Input: json.RawMessage(`{"id":1.5}`)})
	require.NoError(t, err)
	require.Contains(t, w.output(other), `"sum":-9007199254740991`)
}

// canonical drops the spaces that a payload may have.
func canonical(tb testing.TB, raw json.RawMessage) string {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, json.Compact(&b, raw))
	return b.String()
}

const secrets = `
version: 1
id: secrets
entry: use
nodes:
  - id: use
    run: leak
    args: {token: "${ secret('CANARY') }", how: "${ state.how }"}
    output: "${ result }"
    delta: {kept: "${ result }"}
    retry: {max_attempts: 2, backoff: 10ms}
    next: ask
  - {id: ask, type: pause, summary: "${ state.kept }", show: "${ state.kept }", next: end}
`

// F16: a secret must reach the action and nothing else: not history, not the
// details that people see, not the log, whatever the action does with it.
func TestSecretsStayOut(t *testing.T) {
	const canary = "canary-4f1d9c2e-do-not-tell"
	t.Setenv("CANARY", canary)
	seen := make(chan string, 10)
	var log safeBuffer
	w := setup(t, parts{
		client: []func(*client.Options){func(o *client.Options) {
			o.Logger = sdklog.NewStructuredLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		}},
		graphs: []string{secrets},
		edit:   func(o *activities.Options) { o.Secrets = activities.EnvSecrets("CANARY") },
		register: func(r *activities.Registry) {
			activities.Register(r, "leak", func(ctx context.Context, in struct{ Token, How string }) (any, error) {
				seen <- in.Token
				if err := activities.Heartbeat(ctx, "using "+in.Token); err != nil {
					return nil, err
				}
				switch in.How {
				case "error":
					return nil, activities.NewError("t", "with "+in.Token).WithDetails(in)
				case "plain error":
					return nil, errors.New("with " + in.Token)
				case "panic":
					panic("with " + in.Token)
				case "pause":
					return activities.Pause(activities.PauseRequest{Summary: in.Token}), nil
				default:
					return map[string]string{"token": in.Token}, nil
				}
			})
		},
	})
	for _, how := range []string{"output", "pause", "error", "plain error", "panic"} {
		run := w.run("secrets", map[string]string{"how": how, "kept": ""})
		if how == "output" || how == "pause" {
			w.paused(run)
			require.NotContains(t, w.details(run), canary)
			w.signal(run, workflows.SignalResume, nil)
			if how == "pause" { // the pause of the node that follows
				w.until(run, "the second pause", pausedAt("ask#1"))
				w.signal(run, workflows.SignalResume, nil)
			}
			w.output(run)
		} else {
			w.failure(run)
		}
		require.Equal(t, canary, <-seen)
		raw, err := proto.Marshal(w.history(run))
		require.NoError(t, err)
		require.NotContains(t, string(raw), canary, how)
		require.NotContains(t, string(raw), base64.StdEncoding.EncodeToString([]byte(canary)), how)
		require.Contains(t, string(raw), "CANARY", how) // the name may be seen
	}
	require.Contains(t, log.String(), "Activity error", "the log was looked at")
	require.NotContains(t, log.String(), canary)
}

// safeBuffer is a buffer that several goroutines may write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
