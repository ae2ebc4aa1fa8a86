// Neighbours runs what the graphs of this example speak to, until it is told to
// stop: an HTTP service, and a worker with an activity of another team.
//
//	go run ./examples/features/cmd/neighbours
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/examples/features"
)

// token opens the vault; the worker of the graphs has it as its secret
// VAULT_TOKEN.
const token = "open-sesame"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "neighbours:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()

	service := &http.Server{Addr: features.ServiceAddress, Handler: features.Service(token), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- service.ListenAndServe() }()
	defer func() { _ = service.Close() }()

	warehouse := worker.New(c, features.WarehouseQueue, worker.Options{})
	features.Warehouse(warehouse)
	if err := warehouse.Start(); err != nil {
		return err
	}
	defer warehouse.Stop()

	fmt.Println("service at http://" + features.ServiceAddress + ", activities on task queue " + features.WarehouseQueue)
	select {
	case err := <-failed:
		return errors.Join(errors.New("the service has ended"), err)
	case <-worker.InterruptCh():
		return nil
	}
}
