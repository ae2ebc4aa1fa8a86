package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// The whole story from a shell: start, look, answer, wait.
func TestStory(t *testing.T) {
	t.Parallel()
	w := setup(t, "approval.yaml")
	id := w.queue

	r := w.call(t, "run", "approval", "--id", id, "--task-queue", w.queue, "--input", `{"order":"7"}`, "--output", "json")
	require.Equal(t, exitPaused, r.code, "%s%s", r.out, r.err)
	paused := r.document(t)
	require.Equal(t, "paused", paused["status"])
	require.Contains(t, r.err, "started "+id)
	require.Contains(t, r.err, "approve      paused")
	pause := paused["pauses"].([]any)[0].(map[string]any)
	require.Equal(t, "approve#1", pause["pause_id"])
	require.Equal(t, id, pause["workflow_id"])

	r = w.call(t, "status", id)
	require.Equal(t, exitPaused, r.code)
	require.Contains(t, r.out, "pause    approve#1 (approval): Order 7\n")
	require.Contains(t, r.out, `answer it with: temporal workflow signal --workflow-id '`+id+`' --name 'resume:approve#1' --input '{"approved":true}'`)

	for format, begin := range map[string]string{"mermaid": "flowchart", "dot": "digraph", "svg": "<svg"} {
		r = w.call(t, "render", "--run", id, "--format", format)
		require.Equal(t, exitCompleted, r.code)
		require.True(t, strings.HasPrefix(r.out, begin), r.out)
		require.Contains(t, r.out, "open: approve#", "the open pause is drawn in")
	}

	r = w.call(t, "checkpoint", id)
	require.Equal(t, exitCompleted, r.code)
	require.Equal(t, map[string]any{"order": "7"}, r.document(t)["checkpoint"].(map[string]any)["state"])

	r = w.call(t, "resume", id, "--input", `{"approved":1}`, "--output", "json")
	require.Equal(t, exitFailed, r.code)
	require.Equal(t, problem{
		Type: graph.ErrTypeInvalidResumeInput, Message: "/approved: expected boolean, found number (expected_type)", Where: id,
	}, r.problem(t))

	r = w.call(t, "resume", id, "--pause", "approve#1", "--digest", pause["digest"].(string), "--actor", "mara", "--note", "fine",
		"--input", `{"approved":true}`, "--output", "json")
	require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
	require.Equal(t, map[string]any{"id": id, "pause_id": "approve#1", "status": "accepted"}, r.document(t))

	r = w.call(t, "await", id, "--output", "json")
	require.Equal(t, exitCompleted, r.code)
	require.Equal(t, "7 is shipped", r.document(t)["output"])

	r = w.call(t, "await", id)
	require.Equal(t, exitCompleted, r.code)
	require.Contains(t, r.out, `output    "7 is shipped"`)
	require.Contains(t, r.out, "status    completed, 2 steps\n")
}

// Scripts act on exit codes, so each must say what happened, however it is asked.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	w := setup(t, "approval.yaml", "failing.yaml", "slow.yaml", "echo.yaml")
	start := func(args ...string) []string { return append(args, "--task-queue", w.queue) }
	for _, test := range []struct {
		name   string
		args   []string
		code   int
		status string // of the outcome document
		reason string // of the error in it, or instead of it
	}{
		{"completed", start("run", "echo", "--input", `{"a":1}`), exitCompleted, "completed", ""},
		{"a document that the workers have", start("run", "testdata/echo.yaml"), exitCompleted, "completed", ""},
		{"failed", start("run", "failing"), exitFailed, "failed", "out_of_stock"},
		{"paused", start("run", "approval", "--input", `{"order":"1"}`), exitPaused, "paused", ""},
		{"timed out", start("run", "slow", "--deadline", "1s"), exitTimedOut, "timed_out", graph.ErrTypeDeadlineExceeded},
		{"detached", start("run", "slow", "--detach"), exitCompleted, "running", ""},
		{"input refused by the run", start("run", "approval"), exitUsage, "failed", graph.ErrTypeInputSchema},
		{"an unknown graph", start("run", "nothing"), exitUsage, "failed", graph.ErrTypeUnknownGraph},
		{"a document that the workers refuse", start("run", "testdata/broken.yaml"), exitUsage, "", graph.ErrTypeInvalidDocument},
		{"input refused here", start("run", "testdata/approval.yaml", "--input", `{"order":7}`), exitUsage, "", graph.ErrTypeInputSchema},
		{"no JSON", start("run", "echo", "--input", `{order: 7}`), exitUsage, "", typeUsage},
		{"a wrong deadline", start("run", "echo", "--deadline", "soon"), exitUsage, "", typeUsage},
		{"a zero deadline", start("run", "echo", "--deadline", "0s"), exitUsage, "", typeUsage},
		{"a wrong lane", start("run", "echo", "--lane", "a/b/c/d"), exitUsage, "", typeUsage},
		{"a missing file", start("run", "testdata/none.yaml"), exitUsage, "", typeUsage},
		{"no file", start("run"), exitUsage, "", typeUsage},
		{"an unknown run", []string{"status", "nobody"}, exitFailed, "", tidemill.ErrTypeNotFound},
		{"an unknown flag", []string{"status", "x", "--now"}, exitUsage, "", typeUsage},
		{"an unknown verb", []string{"begin"}, exitUsage, "", typeUsage},
		{"no answer", []string{"resume", "x"}, exitUsage, "", typeUsage},
		{"a picture in an unknown format", []string{"render", "testdata/echo.yaml", "--format", "png"}, exitUsage, "", typeUsage},
		{"a picture of an unknown run", []string{"render", "--run", "nobody"}, exitFailed, "", tidemill.ErrTypeNotFound},
		{"an unknown run to watch", []string{"watch", "nobody"}, exitFailed, "", tidemill.ErrTypeNotFound},
		{"a list of nothing", []string{"list", "--limit", "0"}, exitUsage, "", typeUsage},
		{"a list by an unknown status", []string{"list", "--status", "done"}, exitUsage, "", graph.ErrTypeInvalidRunOptions},
		{"a list of no graph", []string{"list", "--graph", "a b"}, exitUsage, "", graph.ErrTypeUnknownGraph},
		{"a picture of nothing", []string{"render"}, exitUsage, "", typeUsage},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := w.call(t, append(test.args, "--output", "json")...)
			require.Equal(t, test.code, r.code, "%s%s", r.out, r.err)
			document := r.document(t)
			if test.status != "" {
				require.Equal(t, test.status, document["status"])
			}
			if test.reason != "" {
				require.Equal(t, test.reason, r.problem(t).Type)
				require.NotEmpty(t, r.problem(t).Message)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		id := w.queue + "-cancelled"
		require.Equal(t, exitCompleted, w.call(t, start("run", "slow", "--id", id, "--detach")...).code)
		taken := w.call(t, start("run", "slow", "--id", id, "--output", "json")...)
		require.Equal(t, exitFailed, taken.code)
		require.Equal(t, tidemill.ErrTypeAlreadyExists, taken.problem(t).Type)
		r := w.call(t, "cancel", id, "--reason", "no longer wanted")
		require.Equal(t, exitCompleted, r.code, r.err)
		require.Equal(t, "asked "+id+" to stop\n", r.out)
		require.Equal(t, exitCancelled, w.call(t, "await", id).code)
		require.Equal(t, exitCancelled, w.call(t, "status", id).code)
		require.Equal(t, exitFailed, w.call(t, "cancel", id).code, "it has closed")
	})
	t.Run("a document that the workers do not take", func(t *testing.T) {
		t.Parallel()
		other := filepath.Join(t.TempDir(), "other.yaml")
		require.NoError(t, os.WriteFile(other, []byte("version: 1\nid: other\nentry: a\nnodes: [{id: a, type: set, next: end}]\n"), 0o600))
		r := w.call(t, start("run", other, "--output", "json")...)
		require.Equal(t, exitUsage, r.code)
		require.Equal(t, graph.ErrTypeInvalidRunOptions, r.problem(t).Type)
		require.Contains(t, r.problem(t).Message, "inline_specs")
	})
	t.Run("unreachable", func(t *testing.T) {
		t.Parallel()
		r := call(t.Context(), "", "doctor", "--address", "127.0.0.1:1", "--output", "json")
		require.Equal(t, exitUnreachable, r.code)
		require.Equal(t, tidemill.ErrTypeUnreachable, r.problem(t).Type)
		require.Contains(t, r.problem(t).Message, "127.0.0.1:1")
	})
}

// interrupter is a standard error that ends the call once it says a word.
type interrupter struct {
	bytes.Buffer

	word      string
	interrupt func()
}

func (i *interrupter) Write(data []byte) (int, error) {
	n, err := i.Buffer.Write(data)
	if strings.Contains(i.String(), i.word) {
		i.interrupt()
	}
	return n, err
}

// An interrupted wait leaves the run alone and says how to take it up again,
// whenever it comes.
func TestInterruptedRunGoesOn(t *testing.T) {
	t.Parallel()
	w := setup(t, "slow.yaml")
	for _, word := range []string{"started", "waiting"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			errs := &interrupter{word: word, interrupt: cancel}
			id := w.queue + "-" + word
			code := run(ctx, []string{"run", "slow", "--id", id, "--task-queue", w.queue, "--address", w.server.Address()},
				strings.NewReader(""), &bytes.Buffer{}, errs)
			require.Equal(t, exitInterrupted, code, errs.String())
			require.Contains(t, errs.String(), "starter await "+id)
			require.Equal(t, exitCompleted, w.call(t, "status", id).code, "it is running")
		})
	}
}

// A signal needs no worker; what it cannot carry is refused.
func TestResumeBySignal(t *testing.T) {
	t.Parallel()
	w := setup(t, "approval.yaml")
	r := w.call(t, "run", "approval", "--id", w.queue, "--task-queue", w.queue, "--input", `{"order":"7"}`)
	require.Equal(t, exitPaused, r.code, r.err)
	r = w.call(t, "resume", w.queue, "--input", "true", "--signal", "--note", "x")
	require.Equal(t, exitUsage, r.code)
	r = w.call(t, "resume", w.queue, "--input", `{"approved":false}`, "--signal", "--output", "json")
	require.Equal(t, exitCompleted, r.code, r.out)
	require.Equal(t, "sent", r.document(t)["status"])
	r = w.call(t, "await", w.queue, "--through-pauses")
	require.Equal(t, exitCompleted, r.code)
	require.Contains(t, r.out, `"rejected"`)
}

// The input may stand in a file or come from another program, its digits
// untouched.
func TestInputFromAnywhere(t *testing.T) {
	t.Parallel()
	w := setup(t, "echo.yaml")
	const text = `{"n": 9007199254740993}`
	file := filepath.Join(t.TempDir(), "input.json")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	for name, from := range map[string]string{"flag": text, "file": "@" + file, "standard input": "-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := call(t.Context(), text, "run", "echo", "--task-queue", w.queue, "--input", from,
				"--address", w.server.Address(), "--output", "json", "--lane", "shop/mara/7")
			require.Equal(t, exitCompleted, r.code, r.err)
			var report tidemill.Report
			require.NoError(t, json.Unmarshal([]byte(r.out), &report))
			require.Contains(t, string(report.Output), "9007199254740993")
		})
	}
	r := w.call(t, "run", "echo", "--input", "@"+file+".none", "--output", "json")
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, file+".none", r.problem(t).Where)
}

// Doctor names what polls, and the same facts as JSON.
func TestDoctor(t *testing.T) {
	t.Parallel()
	w := setup(t, "echo.yaml")
	var r result
	temporaltest.Wait(t, time.Minute, "the worker to poll", func() bool {
		r = w.call(t, "doctor", "--task-queue", w.queue)
		require.Equal(t, exitCompleted, r.code, r.err)
		return strings.Contains(r.out, "1 poller for workflows, 1 poller for activities")
	})
	require.Contains(t, r.out, "TidemillGraph, TidemillStatus, TidemillWaiting")
	require.Contains(t, r.out, "nothing is off")
	require.Regexp(t, `admission +off\n`, r.out)
	require.Regexp(t, `dispatch +by priority: cannot be told, off by default in this version; by flow: cannot be told`, r.out)
	r = w.call(t, "doctor", "--task-queue", w.queue+"-none", "--output", "json")
	require.Equal(t, exitCompleted, r.code)
	require.Len(t, r.document(t)["findings"], 1)
}
