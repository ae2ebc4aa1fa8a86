// Starter starts a run from Go, waits until a person is asked, answers for them,
// and prints the result. The connection is Temporal's own: TEMPORAL_ADDRESS and
// the like, or temporal.toml.
//
//	go run ./examples/order-review/cmd/starter -order 7 -approve
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
)

func main() {
	order := flag.String("order", "7", "the order to review")
	approve := flag.Bool("approve", true, "the answer, should somebody be asked")
	queue := flag.String("task-queue", tidemill.DefaultTaskQueue, "the task queue of the workers")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *order, *queue, *approve); err != nil {
		fmt.Fprintln(os.Stderr, "starter:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, order, queue string, approve bool) error {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()
	return review(ctx, tidemill.NewClient(c, tidemill.ClientOptions{}), order, queue, approve)
}

// review takes one order from start to end.
func review(ctx context.Context, runs *tidemill.Client, order, queue string, approve bool) error {
	run, err := runs.Start(ctx, tidemill.StartOptions{
		Graph:     orderreview.GraphID,
		TaskQueue: queue,
		Input:     map[string]string{"order": order},
	})
	if err != nil {
		return err
	}
	fmt.Println("started", run.ID)

	report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	if err != nil {
		return err
	}
	if report.Status == tidemill.StatusPaused {
		fmt.Printf("asked: %s\nanswer: %t\n", report.Pauses[0].Summary, approve)
		answer := tidemill.ResumeOptions{Input: map[string]bool{"approved": approve}, Actor: "starter"}
		if _, err := runs.Resume(ctx, run.ID, answer); err != nil {
			return err
		}
		if report, err = runs.Await(ctx, run.ID, tidemill.AwaitOptions{}); err != nil {
			return err
		}
	}
	if report.Error != nil {
		return fmt.Errorf("%s: %w", report.Status, report.Error)
	}
	fmt.Printf("completed: %s\n", report.Output)
	return nil
}
