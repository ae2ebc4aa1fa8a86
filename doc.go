// Package tidemill is the front door of Tidemill for Go programs: it makes the
// worker that runs graphs, and the client that starts, answers and looks at
// runs.
//
// A worker is built from an [App], which holds the graphs a team offers and the
// Go functions they name:
//
//	app := tidemill.NewApp()
//	tidemill.Action(app, "ship", func(ctx context.Context, in Order) (Receipt, error) {
//		return shop.Ship(ctx, in, tidemill.Info(ctx).Key)
//	})
//	app.AddGraphs("./graphs")
//
//	w, err := tidemill.NewWorker(ctx, temporal, app, tidemill.WorkerOptions{})
//	if err != nil {
//		return err
//	}
//	return w.Run(worker.InterruptCh())
//
// A [Client] speaks to runs from anywhere:
//
//	runs := tidemill.NewClient(temporal, tidemill.ClientOptions{})
//	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "order-review", Input: order})
//	report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
//	if report.Status == tidemill.StatusPaused {
//		_, err = runs.Resume(ctx, run.ID, tidemill.ResumeOptions{Input: map[string]any{"approved": true}})
//	}
//
// Neither hides Temporal: a run is a workflow execution whose type is the
// graph's id, so any SDK, the temporal command line and the web UI work with it.
//
// # Errors
//
// What a run answers, and what is refused before anything starts, is a
// [*RunError] with one of the types listed in docs/errors.md; match it with
// [ErrorType], never by its text. A run that failed is no error of Await: its
// [Report] says how it ended.
package tidemill
