package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// charge holds its node until the run is cancelled.
const charge = `
version: 1
id: charge
entry: charge
nodes: [{id: charge, run: hold, next: end}]
`

// order runs it in a child.
const order = `
version: 1
id: order
entry: pay
nodes: [{id: pay, type: workflow, workflow: charge, next: end}]
`

// admitting starts a worker whose one action has a limit of one, in a domain of the
// test's own.
func admitting(t *testing.T) world {
	t.Helper()
	server := shared.Server(t)
	w := world{server: server, queue: server.TaskQueue(t)}
	app := tidemill.NewApp()
	app.AddGraph("charge.yaml", []byte(charge))
	app.AddGraph("order.yaml", []byte(order))
	tidemill.Action(app, "hold", func(ctx context.Context, _ struct{}) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	limits := admission.Limits{Keys: []admission.KeyLimit{{Key: payments, Limit: 1}}}
	worker, err := tidemill.NewWorker(t.Context(), server.Client(t), app, tidemill.WorkerOptions{
		TaskQueue: w.queue, StopGrace: -1,
		Admission: &tidemill.AdmissionOptions{
			Domains: []tidemill.AdmissionDomain{{Name: w.queue, Limits: limits}},
			Rules: tidemill.AdmissionRules{Rules: []tidemill.AdmissionRule{{
				Domain: w.queue, Keys: []admission.Units{{Key: payments}},
			}}},
		},
	})
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	t.Cleanup(worker.Stop)
	return w
}

// One command must tell an operator why a run waits, also when it is a child of the
// run that does: on what, and which run is to blame.
func TestWhyIsThisRunWaiting(t *testing.T) {
	t.Parallel()
	w := admitting(t)
	first, second := w.queue+"-first", w.queue+"-second"
	start := func(graph, id string) {
		r := w.call(t, "run", graph, "--id", id, "--task-queue", w.queue, "--detach")
		require.Equal(t, exitCompleted, r.code, r.err)
	}
	explain := func(id string) result {
		r := w.call(t, "admission", "explain", id)
		require.Equal(t, exitCompleted, r.code, r.err)
		return r
	}
	start("charge", first)
	temporaltest.Wait(t, time.Minute, "the first run to hold the permit", func() bool {
		r := w.call(t, "admission", "explain", first, "--output", "json")
		return r.code == exitCompleted && len(r.document(t)["requests"].([]any)) == 1
	})
	require.Contains(t, explain(first).out, first+" does not wait for a permit: it is running at charge\n")

	start("order", second)
	child := second + "/pay#1"
	temporaltest.Wait(t, time.Minute, "the child to wait", func() bool {
		r := w.call(t, "status", child, "--output", "json")
		return r.code == exitCompleted && len(r.document(t)["waiting"].([]any)) == 1
	})
	for _, id := range []string{second, child} {
		r := explain(id)
		require.Contains(t, r.out, child+" waits for a permit: resource:payments has too little room, 1 of 1 in use\n")
		require.Regexp(t, `(?m)^waiting +pay#1/charge#1: admission: limit of resource:payments, next at \S+$`, r.out)
		require.Regexp(t, `(?m)^held by +`+first+` for \S+, 1 unit `, r.out)
	}
	require.Regexp(t, `(?m)^child +`+child+` \(charge\) of `+second+`, running$`, explain(second).out)
	r := w.call(t, "status", child)
	require.Contains(t, r.out, "pay#1/charge#1: admission: limit of resource:payments, next at ")
	require.Contains(t, r.out, "starter admission explain '"+child+"'")

	require.Equal(t, exitCompleted, w.call(t, "cancel", first).code)
	temporaltest.Wait(t, time.Minute, "the child to have the permit", func() bool {
		r := w.call(t, "admission", "explain", child)
		return r.code == exitCompleted && strings.Contains(r.out, "holds a permit since")
	})
	require.Equal(t, exitCompleted, w.call(t, "cancel", second).code)
	require.Equal(t, exitCancelled, w.call(t, "await", second).code)
}
