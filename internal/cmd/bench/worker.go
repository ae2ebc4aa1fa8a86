package main

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/workflows"
)

const (
	queue     = "bench"
	graphName = "linear"
	handName  = "byhand"
	length    = 5 // actions in the line
)

// document is the line as a graph. It does what byHand does: each action is
// given the count and its result becomes the count.
const document = `
version: 1
id: linear
entry: a
nodes:
  - {id: a, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: b}
  - {id: b, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: c}
  - {id: c, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: d}
  - {id: d, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: e}
  - {id: e, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: end}
`

type input struct {
	Count int `json:"count"`
}

func add(_ context.Context, in input) (int, error) { return in.Count + 1, nil }

// byHand is the line as a team would write it.
func byHand(ctx workflow.Context, in input) (int, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Minute})
	for range length {
		if err := workflow.ExecuteActivity(ctx, "addByHand", in).Get(ctx, &in.Count); err != nil {
			return 0, err
		}
	}
	return in.Count, nil
}

// startWorker starts one worker that serves both.
func startWorker(c client.Client) (worker.Worker, error) {
	registry := activities.NewRegistry()
	activities.Register(registry, "add", add)
	catalogue := activities.NewCatalogue(registry)
	if err := catalogue.AddFile("linear.yaml", []byte(document)); err != nil {
		return nil, err
	}
	a, err := activities.New(activities.Options{Registry: registry, Catalogue: catalogue})
	if err != nil {
		return nil, err
	}
	w := worker.New(c, queue, worker.Options{DisableRegistrationAliasing: true})
	w.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
	a.Register(w)
	w.RegisterWorkflowWithOptions(byHand, workflow.RegisterOptions{Name: handName})
	w.RegisterActivityWithOptions(add, activityOptions())
	return w, w.Start()
}
