package main

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// The sides under admission.
func graphOf(work string) side {
	return side{label: "graph", workflow: work, queue: queueAdmitted, semaphore: permits.WorkflowID(permits.DefaultDomain)}
}

func ownerOf(work string) side {
	return side{label: "owner", workflow: work + "-by-permit", queue: queueAdmitted, semaphore: permits.WorkflowID(permits.DefaultDomain)}
}

func signalsOf(work string) side {
	return side{label: "signals", workflow: work + "-by-signals", queue: queueOwners, semaphore: semaphoreID(work)}
}

func lockOf(work string) side {
	return side{label: "lock", workflow: work + "-by-lock", queue: queueOwners}
}

// uncontended is a graph of one action, under a rule and without admission.
func uncontended(batch, width int) contest {
	return contest{
		title: "one action under admission, to the same without", ours: graphOf(plenty),
		theirs: side{label: "without", workflow: plenty, queue: queueFree}, batch: batch, width: width, want: "2", ratio: 0.85,
		events: "exactly 1 more are wanted, and none of workflow tasks",
	}
}

// crowd is the owners at once where permits suffice for all.
const crowd = 64

// signals is a graph of one action under admission, against the common pattern.
func signals(batch int) contest {
	return contest{
		title: "64 graphs of one action at once under a limit of 64, to owners of one semaphore by signals",
		ours:  graphOf(wide), theirs: signalsOf(wide), batch: max(batch, 4*crowd), width: crowd, want: "2", ratio: 1.4,
		events: "no bound", permits: "at most 1.5 are wanted",
	}
}

// signalsByHand is the same with an owner written by hand on both sides.
func signalsByHand(batch int) contest {
	c := signals(batch)
	c.title = "64 hand-written owners at once under a limit of 64, to owners of one semaphore by signals"
	c.ours = ownerOf(wide)
	return c
}

// queueing is the owners at once under a limit of 1.
const queueing = 32

// handovers is one permit that goes from owner to owner, against the lock workflow.
func handovers(batch int) contest {
	return contest{
		title: "one permit among 32 hand-written owners, to the lock workflow",
		ours:  ownerOf(alone), theirs: lockOf(alone), batch: max(batch, 4*queueing), width: queueing, want: "2", ratio: 1,
		events: "no bound", permits: "no bound; the lock's are not counted",
	}
}

// handoversOfGraph is the same with graphs as owners.
func handoversOfGraph(batch int) contest {
	c := handovers(batch)
	c.title = "one permit among 32 graphs of one action, to the lock workflow"
	c.ours = graphOf(alone)
	return c
}

// byPermit is an owner by hand under admission, around one activity.
func byPermit(work string) func(workflow.Context, input) (int, error) {
	return func(ctx workflow.Context, in input) (int, error) {
		request := tidemill.PermitRequest{
			Keys: []admission.Units{{Key: work}}, Overflow: admission.OverflowQueue, QueueTimeout: admission.None,
		}
		err := tidemill.With(ctx, request, func(ctx workflow.Context, _ *tidemill.Permit) error {
			return workflow.ExecuteActivity(byHand(ctx), work+handSuffix, in).Get(ctx, &in.Count)
		})
		return in.Count, err
	}
}

// startGraphs starts the worker of graphs under admission, or of the same graphs
// without.
func (b *bench) startGraphs(ctx context.Context, name string) (worker.Worker, error) {
	app := tidemill.NewApp()
	for _, work := range b.works {
		tidemill.Action(app, work.name, work.do)
		app.AddGraph(work.name+".yaml", []byte(work.document()))
	}
	options := tidemill.WorkerOptions{TaskQueue: name}
	if name == queueAdmitted {
		options.Admission = &tidemill.AdmissionOptions{Limits: limits(b.works), Classify: classify}
	}
	w, err := tidemill.NewWorker(ctx, b.client, app, options)
	if err != nil {
		return nil, err
	}
	for _, work := range b.works {
		named(w, work.name+"-by-permit", byPermit(work.name))
		w.RegisterActivityWithOptions(work.do, activity.RegisterOptions{Name: work.name + handSuffix})
	}
	return w, w.Start()
}
