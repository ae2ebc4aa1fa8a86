package main

import (
	"context"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/workflows"
)

const queue = "bench"

type input struct {
	Count int `json:"count"`
}

func add(_ context.Context, in input) (int, error) { return in.Count + 1, nil }

// startWorker starts one worker that serves both.
func startWorker(c client.Client) (worker.Worker, error) {
	registry := activities.NewRegistry()
	activities.Register(registry, "add", add)
	catalogue := activities.NewCatalogue(registry)
	for _, document := range []string{lineDocument, localDocument(), forkDocument(), mapDocument()} {
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
	w.RegisterWorkflowWithOptions(lineByHand, workflow.RegisterOptions{Name: "line-by-hand"})
	w.RegisterWorkflowWithOptions(forkByHand, workflow.RegisterOptions{Name: "fork-by-hand"})
	w.RegisterWorkflowWithOptions(mapByHand, workflow.RegisterOptions{Name: "map-by-hand"})
	w.RegisterActivityWithOptions(add, activityOptions())
	return w, w.Start()
}
