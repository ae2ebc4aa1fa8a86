package tidemill

import (
	"context"
	"errors"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// noCombiner stands in until the combiner is there.
type noCombiner struct{ permits.Admitter }

func (noCombiner) Close(context.Context) error { return nil }

func newCombiner(c client.Client, queue string, _ map[string]admission.Limits) (combiner, error) {
	if c == nil || queue == "" {
		return nil, errors.New("tidemill: admission: no client")
	}
	return noCombiner{}, nil
}

func registerSemaphores(r worker.Registry, _ client.Client) {
	r.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ permits.Start) error {
		ctx.Done().Receive(ctx, nil)
		return ctx.Err()
	}, workflow.RegisterOptions{Name: permits.WorkflowType})
}
