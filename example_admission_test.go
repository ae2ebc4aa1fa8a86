package tidemill_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// twoGPUs are the limits of the examples.
func twoGPUs() tidemill.AdmissionLimits {
	return tidemill.AdmissionLimits{Keys: []admission.KeyLimit{{Key: "resource:gpu", Limit: 2}}}
}

// gpu is the key that the examples share.
func gpu() []tidemill.AdmissionUnits { return []tidemill.AdmissionUnits{{Key: "resource:gpu"}} }

// admitting runs a worker that gives permits in a domain, with workflows of its own,
// until stop is called. Each example has a domain and a queue of its own: a book works
// on the queue on which it was begun.
func admitting(c client.Client, queue string, workflows map[string]any) (stop func()) {
	options := tidemill.WorkerOptions{TaskQueue: queue, StopGrace: -1, Admission: &tidemill.AdmissionOptions{
		Domains: []tidemill.AdmissionDomain{{Name: queue, Limits: twoGPUs()}},
	}}
	w, err := tidemill.NewWorker(context.Background(), c, tidemill.NewApp(), options)
	if err != nil {
		log.Panic(err)
	}
	for name, fn := range workflows {
		w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
	}
	if err := w.Start(); err != nil {
		log.Panic(err)
	}
	return w.Stop
}

// Train is a workflow that works under a permit.
func Train(ctx workflow.Context, model string) (string, error) {
	var result string
	err := tidemill.With(ctx, tidemill.PermitRequest{
		Domain: "training", Name: model, Keys: gpu(), Flow: "research",
		Overflow: admission.OverflowQueue, QueueTimeout: 10 * time.Minute,
	}, func(ctx workflow.Context, p *tidemill.Permit) error {
		// Activities here run under the permit; p.Token goes to what they change.
		result = fmt.Sprintf("%s trained, with a permit: %t", model, p.Token > 0)
		return nil
	})
	return result, err
}

// Tune is a workflow that does without when there is no room.
func Tune(ctx workflow.Context, model string) (string, error) {
	p, err := tidemill.Acquire(ctx, tidemill.PermitRequest{Domain: "tuning", Keys: gpu()})
	if tidemill.ErrorType(err) == string(admission.AnswerLimitReached) {
		return model + " is tuned another day", nil
	}
	if err != nil {
		return "", err
	}
	if err := tidemill.Release(ctx, p); err != nil {
		return "", err
	}
	return model + " is tuned", nil
}

// run executes a workflow of the examples.
func run(c client.Client, queue, name, input string) string {
	ctx := context.Background()
	started, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: queue}, name, input)
	if err != nil {
		log.Panic(err)
	}
	var result string
	if err := started.Get(ctx, &result); err != nil {
		log.Panic(err)
	}
	return result
}

// A workflow of one's own works under a permit.
func ExampleWith() {
	c := dial()
	defer c.Close()
	defer admitting(c, "training", map[string]any{"Train": Train})()
	fmt.Println(run(c, "training", "Train", "tides"))
	// Output: tides trained, with a permit: true
}

// A workflow asks for a permit, and goes another way when there is none.
func ExampleAcquire() {
	c := dial()
	defer c.Close()
	defer admitting(c, "tuning", map[string]any{"Tune": Tune})()
	fmt.Println(run(c, "tuning", "Tune", "tides"))
	// Output: tides is tuned
}

// A program that is no workflow works under a permit too.
func Example_process() {
	c := dial()
	defer c.Close()
	defer admitting(c, "processing", nil)()

	ctx := context.Background()
	combiner, err := permits.NewCombiner(permits.CombinerOptions{
		Client: c, TaskQueue: permits.TaskQueue("processing"),
		Limits: map[string]admission.Limits{"processing": twoGPUs()}, // as the workers say
	})
	if err != nil {
		log.Panic(err)
	}
	defer func() { _ = combiner.Close(ctx) }() // sends what was given back last
	process := permits.NewProcess(permits.ProcessOptions{Admitter: combiner, Domain: "processing", ID: "nightly-export"})

	request := admission.Request{Keys: gpu(), Overflow: admission.OverflowQueue, QueueTimeout: time.Minute}
	err = process.With(ctx, request, func(ctx context.Context, p *permits.Permit) error {
		fmt.Println("exporting under a permit:", p.Token() > 0) // ctx ends when the permit is lost
		return nil
	})
	switch {
	case errors.Is(err, permits.ErrDenied):
		fmt.Println("no permit:", err)
	case errors.Is(err, permits.ErrLost):
		fmt.Println("the permit was lost on the way:", err)
	case err != nil:
		log.Panic(err)
	}
	// Output: exporting under a permit: true
}
