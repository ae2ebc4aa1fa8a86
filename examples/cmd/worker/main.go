// Worker runs the graphs of all examples until it is told to stop, against any
// Temporal server. The connection is Temporal's own: TEMPORAL_ADDRESS and the like,
// or temporal.toml.
//
//	go run ./examples/cmd/worker
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples"
	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/examples/features"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

func main() {
	queue := flag.String("task-queue", tidemill.DefaultTaskQueue, "task queue to poll")
	flag.Parse()
	if err := run(context.Background(), *queue); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, queue string) error {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()
	w, err := tidemill.NewWorker(ctx, c, examples.NewApp(orders.DefaultAddress, admission.DefaultAddress), tidemill.WorkerOptions{
		TaskQueue: queue,
		HTTP:      tidemill.HTTPOptions{Hosts: []string{orders.DefaultAddress, features.ServiceAddress}, Private: true},
		Secrets:   tidemill.EnvSecrets(features.SecretName),
		Admission: admission.Options(), // nothing but the graph geocode needs a permit
	})
	if err != nil {
		return err
	}
	return w.Run(worker.InterruptCh())
}
