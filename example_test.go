package tidemill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// dial is where a program would write client.Dial(client.Options{}).
func dial() client.Client {
	c, err := client.Dial(client.Options{HostPort: shared.Server(exampleTB{}).Address(), Logger: temporaltest.Logger()})
	if err != nil {
		log.Panic(err)
	}
	return c
}

// serve runs a worker of the App until stop is called.
func serve(c client.Client, app *tidemill.App, queue string) (stop func()) {
	w, err := tidemill.NewWorker(context.Background(), c, app, tidemill.WorkerOptions{TaskQueue: queue, StopGrace: -1})
	if err != nil {
		log.Panic(err)
	}
	if err := w.Start(); err != nil {
		log.Panic(err)
	}
	return w.Stop
}

// A worker offers Go functions and graphs that name them.
func ExampleNewWorker() {
	c := dial()
	defer c.Close()

	app := tidemill.NewApp()
	tidemill.Action(app, "shout", func(_ context.Context, in struct{ Text string }) (string, error) {
		return strings.ToUpper(in.Text), nil
	})
	app.AddGraph("greet.yaml", []byte(`
version: 1
id: greet
entry: shout
nodes:
  - {id: shout, run: shout, args: {text: "hello, ${ state.name }"}, next: end}
`))
	ctx := context.Background()
	w, err := tidemill.NewWorker(ctx, c, app, tidemill.WorkerOptions{TaskQueue: "greetings", StopGrace: -1})
	if err != nil {
		log.Panic(err) // everything that is wrong with the App, at once
	}
	if err := w.Start(); err != nil {
		log.Panic(err)
	}
	defer w.Stop()

	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "greetings"})
	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "greet", Input: map[string]string{"name": "tide"}})
	if err != nil {
		log.Panic(err)
	}
	report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(report.Status, string(report.Output))
	// Output: completed "HELLO, TIDE"
}

// An action may ask a person, when only it knows that one is needed.
func ExampleAction() {
	c := dial()
	defer c.Close()

	type payment struct{ Amount float64 }
	app := tidemill.NewApp()
	tidemill.Action(app, "pay", func(ctx context.Context, in payment) (tidemill.Result, error) {
		if in.Amount > 1000 {
			return tidemill.Pause(tidemill.PauseRequest{Reason: "large", Summary: "Pay more than 1000?"}), nil
		}
		return tidemill.Output("paid under " + string(tidemill.Info(ctx).Address)), nil
	})
	app.AddGraph("pay.yaml", []byte(`
version: 1
id: pay
entry: pay
nodes:
  - {id: pay, run: pay, args: {amount: "${ state.amount }"}, next: end}
`))
	defer serve(c, app, "payments")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "payments"})
	for _, amount := range []int{10, 5000} {
		run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "pay", Input: map[string]int{"amount": amount}})
		if err != nil {
			log.Panic(err)
		}
		report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
		if err != nil {
			log.Panic(err)
		}
		if report.Status == tidemill.StatusPaused {
			fmt.Println("paused:", report.Pauses[0].Summary)
			continue
		}
		fmt.Println(string(report.Output))
	}
	// Output:
	// "paid under pay#1"
	// paused: Pay more than 1000?
}

// A callback decides in Go where an expression would not do.
func ExampleCallback() {
	c := dial()
	defer c.Close()

	app := tidemill.NewApp()
	tidemill.Callback(app, "by_size", 1, func(s tidemill.Scope) (string, error) {
		var total float64
		if _, err := s.State("total", &total); err != nil {
			return "", err
		}
		if total > 1000 {
			return "large", nil
		}
		return "small", nil
	})
	app.AddGraph("sizes.yaml", []byte(`
version: 1
id: sizes
entry: size
nodes:
  - {id: size, type: branch, choose: {call: by_size}, targets: [large, small]}
  - {id: large, type: set, output: needs approval, next: end}
  - {id: small, type: set, output: goes through, next: end}
`))
	defer serve(c, app, "sizes")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "sizes"})
	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "sizes", Input: map[string]int{"total": 1200}})
	if err != nil {
		log.Panic(err)
	}
	report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(string(report.Output))
	// Output: "needs approval"
}

// What can be known before a run exists is checked before it is started.
func ExampleClient_Start() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "start")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "start", App: newApp()})
	_, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-1", Input: map[string]int{"order": 1}})
	fmt.Println(tidemill.ErrorType(err))

	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-1", Input: map[string]string{"order": "1"}})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println("started", run.ID)

	_, err = runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-1", Input: map[string]string{"order": "1"}})
	fmt.Println(tidemill.ErrorType(err))
	// Output:
	// input_schema_validation_failed
	// started order-1
	// already_exists
}

// A pause is shown by Await, and answered by Resume.
func ExampleClient_Resume() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "resume")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "resume"})
	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-2", Input: map[string]string{"order": "2"}})
	if err != nil {
		log.Panic(err)
	}
	report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	if err != nil {
		log.Panic(err)
	}
	pause := report.Pauses[0]
	fmt.Println(pause.ID, pause.Reason+":", pause.Summary)

	_, err = runs.Resume(ctx, run.ID, tidemill.ResumeOptions{Input: json.RawMessage(`{"approved":"yes"}`)})
	fmt.Println(tidemill.ErrorType(err))

	answered, err := runs.Resume(ctx, run.ID, tidemill.ResumeOptions{
		Input: map[string]bool{"approved": true}, Actor: "mara", Digest: pause.Digest,
	})
	fmt.Println(answered.PauseID, answered.Status, err)
	// Output:
	// approve#1 approval: Order 2
	// invalid_resume_input
	// approve#1 accepted <nil>
}

// Await returns when a run is paused; with ThroughPauses only when it is closed.
func ExampleClient_Await() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "await")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "await"})
	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-3", Input: map[string]string{"order": "3"}})
	if err != nil {
		log.Panic(err)
	}
	report, err := runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	fmt.Println(report.Status, err)
	fmt.Println(tidemill.ResumeCommand(report.Pauses[0]))

	if _, err := runs.Resume(ctx, run.ID, tidemill.ResumeOptions{Input: map[string]bool{"approved": false}}); err != nil {
		log.Panic(err)
	}
	report, err = runs.Await(ctx, run.ID, tidemill.AwaitOptions{ThroughPauses: true})
	fmt.Println(report.Status, string(report.Output), err)
	// Output:
	// paused <nil>
	// temporal workflow signal --workflow-id 'order-3' --name 'resume:approve#1' --input '{"approved":true}'
	// completed "rejected" <nil>
}

// Status looks at a run without waiting.
func ExampleClient_Status() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "status")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "status"})
	if _, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-4", Input: map[string]string{"order": "4"}}); err != nil {
		log.Panic(err)
	}
	if _, err := runs.Await(ctx, "order-4", tidemill.AwaitOptions{}); err != nil {
		log.Panic(err)
	}
	report, err := runs.Status(ctx, "order-4")
	fmt.Println(report.Status, report.Steps, err)
	_, err = runs.Status(ctx, "order-five")
	fmt.Println(tidemill.ErrorType(err))
	// Output:
	// paused 1 <nil>
	// not_found
}

// Cancel asks a run to stop; Await tells when it has.
func ExampleClient_Cancel() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "cancel")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "cancel"})
	if _, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-6", Input: map[string]string{"order": "6"}}); err != nil {
		log.Panic(err)
	}
	if err := runs.Cancel(ctx, "order-6", "the customer changed their mind"); err != nil {
		log.Panic(err)
	}
	report, err := runs.Await(ctx, "order-6", tidemill.AwaitOptions{ThroughPauses: true})
	fmt.Println(report.Status, report.Error.Type, err)
	fmt.Println(tidemill.ErrorType(runs.Cancel(ctx, "order-6", "again")))
	// Output:
	// cancelled cancelled <nil>
	// already_terminal
}

// Checkpoint is a run as data, open or closed. Kept as JSON it can be redriven when the
// run itself is gone.
func ExampleClient_Checkpoint() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "checkpoint")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "checkpoint"})
	if _, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-7", Input: map[string]string{"order": "7"}}); err != nil {
		log.Panic(err)
	}
	if _, err := runs.Await(ctx, "order-7", tidemill.AwaitOptions{}); err != nil {
		log.Panic(err)
	}
	export, err := runs.Checkpoint(ctx, "order-7", tidemill.CheckpointOptions{})
	if err != nil {
		log.Panic(err)
	}
	order, _ := export.Checkpoint.State.Get("order")
	fmt.Println(export.WorkflowID, export.Checkpoint.Graph, string(order))
	// Output: order-7 approval "7"
}

// Picture draws the graph with the run in it, for wherever Mermaid is shown.
func ExampleClient_Picture() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "picture")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "picture"})
	if _, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-8", Input: map[string]string{"order": "8"}}); err != nil {
		log.Panic(err)
	}
	if _, err := runs.Await(ctx, "order-8", tidemill.AwaitOptions{}); err != nil {
		log.Panic(err)
	}
	text, err := runs.Picture(ctx, "order-8")
	if err != nil {
		log.Panic(err)
	}
	first, _, _ := strings.Cut(text, "\n")
	fmt.Println(first, strings.Contains(text, "paused"))
	// Output: flowchart TD true
}

// Doctor says what a server and its workers lack.
func ExampleClient_Doctor() {
	c := dial()
	defer c.Close()

	runs := tidemill.NewClient(c, tidemill.ClientOptions{})
	diagnosis, err := runs.Doctor(context.Background(), "nobody-polls-this")
	if err != nil {
		log.Panic(err)
	}
	for _, finding := range diagnosis.Findings {
		fmt.Fprintf(os.Stdout, "%s\n  %s\n", finding.What, finding.Fix)
	}
	// Output:
	// no worker polls task queue "nobody-polls-this": runs start and then wait
	//   start a worker with task_queue: nobody-polls-this
}

// List finds runs by graph and status, without asking them.
func ExampleClient_List() {
	c := dial()
	defer c.Close()

	runs := tidemill.NewClient(c, tidemill.ClientOptions{})
	list, err := runs.List(context.Background(), tidemill.ListOptions{Graph: "nobody-has-run-this", Status: tidemill.StatusPaused})
	fmt.Println(len(list.Runs), list.More, err)
	// Output: 0 false <nil>
}

// Watch shows a run on its way; the last report is the outcome.
func ExampleClient_Watch() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "watch")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "watch"})
	run, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-9", Input: map[string]string{"order": "9"}})
	if err != nil {
		log.Panic(err)
	}
	answered := false
	for report, err := range runs.Watch(ctx, run.ID) {
		switch {
		case err != nil:
			log.Panic(err)
		case report.Finished != nil:
			fmt.Println(report.Status, string(report.Output))
		case len(report.Pauses) > 0 && !answered:
			answered = true
			fmt.Println("it asks:", report.Pauses[0].Summary)
			if _, err := runs.Resume(ctx, run.ID, tidemill.ResumeOptions{Input: map[string]bool{"approved": true}}); err != nil {
				log.Panic(err)
			}
		}
	}
	// Output:
	// it asks: Order 9
	// completed "9 is shipped"
}

// View holds what pictures are drawn from.
func ExampleClient_View() {
	c := dial()
	defer c.Close()
	defer serve(c, newApp(), "view")()

	ctx := context.Background()
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: "view"})
	if _, err := runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: "order-10", Input: map[string]string{"order": "10"}}); err != nil {
		log.Panic(err)
	}
	if _, err := runs.Await(ctx, "order-10", tidemill.AwaitOptions{}); err != nil {
		log.Panic(err)
	}
	view, err := runs.View(ctx, "order-10")
	if err != nil {
		log.Panic(err)
	}
	picture := graph.SVG(view.Document, view.Run)
	fmt.Println(strings.HasPrefix(picture, "<svg "), strings.Contains(picture, "open: approve#1"))
	// Output: true true
}
