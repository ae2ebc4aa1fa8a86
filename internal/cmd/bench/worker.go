package main

import (
	"context"
	"errors"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/workflows"
)

// The task queues. Each has a worker of its own, started when it is first needed.
const (
	queue         = "bench"          // graphs and the same by hand
	queueFree     = "bench-free"     // graphs without admission
	queueAdmitted = "bench-admitted" // graphs and owners under admission
	queueOwners   = "bench-owners"   // owners of the rivals
	queueRivals   = "bench-rivals"   // what the owners of the rivals ask
)

type input struct {
	Count int `json:"count"`
}

func add(_ context.Context, in input) (int, error) { return in.Count + 1, nil }

// serve starts the workers of a queue, once.
func (b *bench) serve(ctx context.Context, name string) error {
	if b.served[name] {
		return nil
	}
	var err error
	switch name {
	case queue:
		err = b.start(startWorker(b.client))
	case queueFree, queueAdmitted:
		err = b.start(b.startGraphs(ctx, name))
	case queueOwners:
		err = errors.Join(b.start(startRivals(b.client)), b.start(b.startOwners()), b.startSemaphores(ctx))
	}
	b.served[name] = true
	return err
}

// start keeps a worker that has started, to be stopped at the end.
func (b *bench) start(w worker.Worker, err error) error {
	if err == nil {
		b.workers = append(b.workers, w)
	}
	return err
}

// stop ends the workers, the latest first.
func (b *bench) stop() {
	for _, w := range slices.Backward(b.workers) {
		w.Stop()
	}
}

// startWorker starts one worker that serves graphs and the same by hand.
func startWorker(c client.Client) (worker.Worker, error) {
	registry := activities.NewRegistry()
	activities.Register(registry, "add", add)
	activities.Register(registry, "pad", pad)
	catalogue := activities.NewCatalogue(registry)
	for _, document := range append(longDocuments(), lineDocument, localDocument(), forkDocument(), mapDocument()) {
		if err := catalogue.AddFile("bench.yaml", []byte(document)); err != nil {
			return nil, err
		}
	}
	a, err := activities.New(activities.Options{Registry: registry, Catalogue: catalogue})
	if err != nil {
		return nil, err
	}
	w := worker.New(c, queue, worker.Options{DisableRegistrationAliasing: true})
	w.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
	a.Register(w)
	named(w, "line-by-hand", lineByHand)
	named(w, "fork-by-hand", forkByHand)
	named(w, "map-by-hand", mapByHand)
	w.RegisterActivityWithOptions(add, activity.RegisterOptions{Name: "addByHand"})
	return w, w.Start()
}

func named(w worker.Worker, name string, fn any) {
	w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
}
