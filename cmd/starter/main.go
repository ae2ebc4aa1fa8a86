// Command starter is the command line of Tidemill: it checks and draws graphs,
// starts runs and answers them.
//
// Every verb takes --output json and then prints exactly one document on
// standard output, an error too; what is said on the way goes to standard error.
// docs/cli.md lists the verbs and the exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
