package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// list calls list until it has as many runs as are wanted: the server's search
// is a moment late.
func (w world) list(t *testing.T, want int, args ...string) tidemill.List {
	t.Helper()
	var list tidemill.List
	temporaltest.Wait(t, time.Minute, "the list to be complete", func() bool {
		r := w.call(t, append([]string{"list", "--output", "json"}, args...)...)
		require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
		list = tidemill.List{}
		require.NoError(t, json.Unmarshal([]byte(r.out), &list))
		list.Runs = only(list.Runs, w.queue)
		return len(list.Runs) == want
	})
	return list
}

// only are the runs of one test: others share the server.
func only(runs []tidemill.Listed, prefix string) []tidemill.Listed {
	var own []tidemill.Listed
	for _, r := range runs {
		if strings.HasPrefix(r.ID, prefix) {
			own = append(own, r)
		}
	}
	return own
}

// A list must find runs by graph and by status, a run that was never paused
// among the running ones, and say what the paused ones wait for.
func TestList(t *testing.T) {
	t.Parallel()
	w := setup(t, "approval.yaml", "slow.yaml", "failing.yaml")
	start := func(graph, input string) {
		w.call(t, "run", graph, "--id", w.queue+"-"+graph, "--task-queue", w.queue, "--input", input, "--detach")
	}
	start("approval", `{"order":"7"}`)
	start("slow", `{}`)
	start("failing", `{}`)

	paused := w.list(t, 1, "--graph", "approval", "--status", "paused").Runs[0]
	require.Equal(t, w.queue+"-approval", paused.ID)
	require.Equal(t, tidemill.StatusPaused, paused.Status)
	require.Equal(t, "approve#1", string(paused.Waiting[0]))
	require.Nil(t, paused.Finished)

	running := w.list(t, 1, "--status", "running").Runs[0]
	require.Equal(t, w.queue+"-slow", running.ID)
	require.Empty(t, running.Waiting)

	failed := w.list(t, 1, "--graph", "failing", "--status", "failed").Runs[0]
	require.Equal(t, tidemill.StatusFailed, failed.Status)
	require.NotNil(t, failed.Finished)

	all := w.list(t, 3)
	require.Empty(t, all.Missing)
	require.Equal(t, []string{w.queue + "-slow", w.queue + "-approval", w.queue + "-failing"},
		[]string{all.Runs[0].ID, all.Runs[1].ID, all.Runs[2].ID}, "the open ones first, the youngest of them before")

	r := w.call(t, "list", "--limit", "1")
	require.Equal(t, exitCompleted, r.code)
	require.Equal(t, 2, strings.Count(r.out, "\n"), r.out)
	require.Regexp(t, `^ID +GRAPH +STATUS +STARTED +WAITING\n`, r.out)
	require.Contains(t, r.err, "there are more")
}

// Watch follows a run through its pause to its end, as lines where nobody sees
// the screen; as one document where a program reads.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := setup(t, "approval.yaml")
	id := w.queue
	r := w.call(t, "run", "approval", "--id", id, "--task-queue", w.queue, "--input", `{"order":"7"}`)
	require.Equal(t, exitPaused, r.code, r.err)

	texts, documents := make(chan result, 1), make(chan result, 1)
	go func() { texts <- w.call(t, "watch", id) }()
	go func() { documents <- w.call(t, "watch", id, "--output", "json") }()
	answer := func() bool {
		return w.call(t, "resume", id, "--input", `{"approved":true}`).code == exitCompleted
	}
	temporaltest.Wait(t, time.Minute, "the answer to be taken", answer)

	r = <-texts
	require.Equal(t, exitCompleted, r.code, r.err)
	require.Regexp(t, `(?s)shipped +completed\n.*output +"7 is shipped"`, r.out)
	require.NotContains(t, r.out, "\x1b", "no control sequences outside a terminal")
	r = <-documents
	require.Equal(t, exitCompleted, r.code, r.err)
	require.Equal(t, "completed", r.document(t)["status"])
	require.Contains(t, r.err, "completed")
}

// Ctrl-C ends the watching and nothing else.
func TestInterruptedWatchLeavesTheRunAlone(t *testing.T) {
	t.Parallel()
	w := setup(t, "approval.yaml")
	r := w.call(t, "run", "approval", "--id", w.queue, "--task-queue", w.queue, "--input", `{"order":"7"}`)
	require.Equal(t, exitPaused, r.code, r.err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &interrupter{word: "answer it with", interrupt: cancel}, &interrupter{word: "\x00", interrupt: cancel}
	code := run(ctx, []string{"watch", w.queue, "--address", w.server.Address()}, strings.NewReader(""), out, errs)
	require.Equal(t, exitInterrupted, code, errs.String())
	require.Contains(t, out.String(), "approve#1    open: approval: Order 7")
	require.Contains(t, errs.String(), "the run goes on; watch it again with: starter watch "+w.queue)
	require.Equal(t, exitPaused, w.call(t, "status", w.queue).code)
}
