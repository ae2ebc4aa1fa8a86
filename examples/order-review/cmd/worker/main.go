// Worker runs the example's graph and its action until it is told to stop. It is
// what a Go team's own worker looks like. The connection is Temporal's own:
// TEMPORAL_ADDRESS and the like, or temporal.toml.
//
//	go run ./examples/order-review/cmd/worker
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

func main() {
	shop := flag.String("orders", orders.DefaultAddress, "host and port of the shop")
	queue := flag.String("task-queue", tidemill.DefaultTaskQueue, "task queue to poll")
	grace := flag.Duration("stop-grace", 10*time.Second, "how long a stopping worker lets its actions go on")
	flag.Parse()
	if err := run(context.Background(), *shop, *queue, *grace); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, shop, queue string, grace time.Duration) error {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()
	w, err := tidemill.NewWorker(ctx, c, orderreview.NewApp(shop), tidemill.WorkerOptions{
		TaskQueue: queue,
		HTTP:      tidemill.HTTPOptions{Hosts: []string{shop}, Private: true},
		StopGrace: grace,
	})
	if err != nil {
		return err
	}
	return w.Run(worker.InterruptCh())
}
