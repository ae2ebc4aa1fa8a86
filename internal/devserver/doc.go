// Package devserver starts a Temporal development server as a child process.
//
// The tests, the demo and `make dev` all need the same thing: a real server on
// ports of its own, with the search attributes Tidemill writes, gone again when
// the caller is. A [Server] is that process.
//
//	server, err := devserver.Start(ctx, devserver.Options{UI: true})
//	defer server.Stop()
//	out, err := server.CLI(ctx, "workflow", "list")
//
// The binary is the `temporal` command line; see [Binary] for where it is looked
// up. The server keeps everything in memory unless Options.Database is set. On
// Linux the kernel ends it when the caller dies, whatever the caller dies of.
package devserver
