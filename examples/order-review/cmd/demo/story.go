package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/internal/devserver"
)

// runID is the workflow id of the story's run.
const runID = "order-7"

// story is told on a stage, step by step. A step returns an error when what it
// sees is not what was to be shown.
type story struct {
	stage *stage
	out   io.Writer
}

func (s story) tell(ctx context.Context) error {
	s.say("A Temporal server, a shop and a worker are up.")
	s.detail("server %s, shop %s, both on ports of their own", s.stage.server.Address(), s.stage.shop.URL())
	for _, step := range []func(context.Context) error{s.start, s.call, s.pause, s.resume, s.finish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.say("That was all. `make dev` starts the same with the web UI, and stays.")
	return nil
}

// start starts the run with nothing of ours in between.
func (s story) start(ctx context.Context) error {
	s.say("A run is started with Temporal's own command line.")
	return s.shell(ctx, "temporal workflow start --type "+orderreview.GraphID+" --task-queue "+tidemill.DefaultTaskQueue+
		" --workflow-id "+runID+` --input '{"order":"7"}'`)
}

// call waits until the run cannot go on alone, and shows what it did so far.
func (s story) call(ctx context.Context) error {
	report, err := s.stage.client.Await(ctx, runID, tidemill.AwaitOptions{})
	if err != nil {
		return err
	}
	if err := expectStatus(tidemill.StatusPaused, report); err != nil {
		return err
	}
	s.say("Its first node calls the shop over HTTP.")
	return s.counts(1, 0)
}

// pause shows what the run waits for, and how to answer it.
func (s story) pause(ctx context.Context) error {
	open, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.say("The order is over the limit, so the run waits for a person.")
	s.detail("pause    %s (%s)", open.ID, open.Reason)
	s.detail("says     %s", open.Summary)
	s.detail("shows    %s", open.Show)
	s.detail("resume   %s", tidemill.ResumeCommand(open))
	if err := expect("the pause's summary", "Order 7 is over the limit: 1500", open.Summary); err != nil {
		return err
	}
	return expectJSON("what the pause shows", `{"items":[{"name":"desk","quantity":1},{"name":"chair","quantity":4}]}`, open.Show)
}

// open is the one pause that is open.
func (s story) open(ctx context.Context) (tidemill.OpenPause, error) {
	report, err := s.stage.client.Status(ctx, runID)
	if err != nil {
		return tidemill.OpenPause{}, err
	}
	if err := expect("the number of open pauses", 1, len(report.Pauses)); err != nil {
		return tidemill.OpenPause{}, err
	}
	return report.Pauses[0], nil
}

// counts shows what the shop has seen of the order, and checks it.
func (s story) counts(calls, parcels int) error {
	called, made := s.stage.shop.Calls("GET", "/orders/7"), len(s.stage.shop.Parcels("7"))
	s.detail("calls    GET /orders/7: %d", called)
	s.detail("parcels  %d", made)
	return errors.Join(expect("the calls for the order", calls, called), expect("the parcels of the order", parcels, made))
}

// resume answers with the command that the run itself gave.
func (s story) resume(ctx context.Context) error {
	open, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.say("The person says yes, with that command.")
	return s.shell(ctx, tidemill.ResumeCommand(open))
}

// finish waits for the end and shows the result.
func (s story) finish(ctx context.Context) error {
	report, err := s.stage.client.Await(ctx, runID, tidemill.AwaitOptions{ThroughPauses: true})
	if err != nil {
		return err
	}
	if err := expectStatus(tidemill.StatusCompleted, report); err != nil {
		return err
	}
	s.say("The order is shipped, its parcel followed until it arrived.")
	s.detail("status   %s", report.Status)
	s.detail("output   %s", report.Output)
	if err := expectJSON("the run's output", `{"order":"7","parcel":"P1","status":"delivered"}`, report.Output); err != nil {
		return err
	}
	s.say("Nothing was done twice.")
	return s.counts(1, 1)
}

// shell runs a command as a user would type it, with `temporal` on PATH and
// meaning the story's server.
func (s story) shell(ctx context.Context, command string) error {
	s.detail("$ %s", command)
	binary, err := devserver.Binary()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = append(s.stage.server.Environment(),
		"PATH="+filepath.Dir(binary)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, output)
	}
	for line := range strings.Lines(strings.TrimSpace(string(output))) {
		s.detail("  %s", strings.TrimRight(line, "\n"))
	}
	return nil
}

func (s story) say(text string) { _, _ = fmt.Fprintf(s.out, "\n%s\n", text) }

func (s story) detail(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, "    "+format+"\n", args...)
}

// expectStatus says what went wrong when the run stands otherwise than wanted.
func expectStatus(want tidemill.Status, report tidemill.Report) error {
	err := expect("the run's status", want, report.Status)
	if err != nil && report.Error != nil {
		return fmt.Errorf("%w: %w", err, report.Error)
	}
	return err
}

func expect[T comparable](what string, want, got T) error {
	if want != got {
		return fmt.Errorf("%s: want %v, got %v", what, want, got)
	}
	return nil
}

// expectJSON compares canonical JSON.
func expectJSON(what, want string, got json.RawMessage) error { return expect(what, want, string(got)) }
