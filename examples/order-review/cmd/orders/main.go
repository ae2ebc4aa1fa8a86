// Orders is the shop of the example as a program of its own, until Ctrl-C.
//
//	go run ./examples/order-review/cmd/orders
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tidemill/tidemill/examples/order-review/orders"
)

func main() {
	address := flag.String("address", orders.DefaultAddress, "host and port to listen on")
	flag.Parse()
	if err := run(*address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := orders.Listen(address)
	if err != nil {
		return err
	}
	fmt.Println("orders at", server.URL()+"/orders/7, calls at", server.URL()+"/calls")
	<-ctx.Done()
	return server.Close()
}
