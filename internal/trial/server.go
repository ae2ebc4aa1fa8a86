package trial

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

// Bounds of what a server is waited for.
const (
	longest  = 10 * time.Second // virtual time of a case
	patience = time.Minute      // for a run, beyond its virtual time
	poll     = 100 * time.Millisecond
)

// Server plays cases on a Temporal server.
type Server struct {
	temporal client.Client
	logger   log.Logger // of replays
}

// New gives a Server that the client speaks to.
func New(c client.Client, logger log.Logger) *Server { return &Server{temporal: c, logger: logger} }

// Play runs a case, which went as virtual says in virtual time.
func (s *Server) Play(ctx context.Context, suite *tidemilltest.Suite, c tidemilltest.Case, virtual tidemilltest.Verdict) tidemilltest.Verdict {
	v := tidemilltest.Verdict{File: suite.File, Line: c.Line, Name: c.Name, Server: true, Outcome: tidemilltest.Skipped}
	if virtual.Outcome != tidemilltest.Passed {
		v.Reason = "it failed in virtual time"
		return v
	}
	scenario, why := suite.Prompt(c)
	var want *tidemilltest.Result
	if why == "" {
		want, why = expected(ctx, scenario, virtual.Result)
	}
	if why != "" {
		v.Reason = why
		return v
	}
	scenario.App = suite.NewApp()
	got, err := s.run(ctx, scenario, want)
	v.Outcome = tidemilltest.Passed
	if err != nil {
		v.Reason = err.Error()
	} else {
		v.Differences = differences(want, got)
		v.Calls, v.Took, v.Result = len(got.Calls), graph.Duration(want.Duration), got
	}
	if err != nil || len(v.Differences) > 0 {
		v.Outcome = tidemilltest.Failed
	}
	return v
}

// expected is what a run does whose answers come at once; or why it is not tried on a
// server.
func expected(ctx context.Context, s tidemilltest.Scenario, original *tidemilltest.Result) (*tidemilltest.Result, string) {
	want, err := tidemilltest.Simulate(ctx, s)
	switch {
	case err != nil || want.Status != original.Status || string(want.Output) != string(original.Output):
		return nil, "it goes another way when its answers come at once, and a server is not kept waiting for them"
	case s.Cancel.When != "" && !opens(s.Cancel.When, want):
		return nil, "the run is cancelled at a visit that is no pause, which is done in virtual time alone"
	case want.Status == graph.StatusRunning:
		return nil, "the run does not end"
	case want.Duration > longest:
		return nil, fmt.Sprintf("it takes %s of virtual time, and a server is waited for at most %s", want.Duration, longest)
	}
	return want, ""
}

// opens reports whether a pause opens in a run.
func opens(pause string, r *tidemilltest.Result) bool {
	return slices.ContainsFunc(r.Pauses, func(p tidemilltest.Pause) bool { return tidemilltest.Names(pause, p.OpenPause) })
}

// run runs a scenario with a worker of its own.
func (s *Server) run(ctx context.Context, scenario tidemilltest.Scenario, want *tidemilltest.Result) (*tidemilltest.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, want.Duration+patience)
	defer cancel()
	began := time.Now()
	live, err := scenario.Live(func() time.Duration { return time.Since(began) })
	if err != nil {
		return nil, err
	}
	options := live.Options
	options.TaskQueue, options.StopGrace = "tidemill-test-"+strings.ToLower(rand.Text()[:12]), -1
	w, err := tidemill.NewWorker(ctx, s.temporal, live.App, options)
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("trial: the worker: %w", err)
	}
	defer w.Stop()
	runs := tidemill.NewClient(s.temporal, tidemill.ClientOptions{TaskQueue: options.TaskQueue})
	run, err := runs.Start(ctx, tidemill.StartOptions{
		Graph: live.Graph, Input: scenario.Input, Deadline: scenario.Deadline, MaxSteps: scenario.MaxSteps, Lane: scenario.Lane,
		ID: options.TaskQueue,
	})
	if err != nil {
		return nil, err
	}
	p := &people{runs: runs, id: run.ID, scenario: scenario, want: want}
	report, err := p.attend(ctx)
	if report.Finished == nil { // nobody needs it any more
		err = errors.Join(err, s.clear(context.WithoutCancel(ctx), runs, run.ID))
	}
	if err = errors.Join(err, live.Err()); err != nil {
		return nil, err
	}
	if err := s.replay(ctx, run.ID, ""); err != nil {
		return nil, fmt.Errorf("the history of the run does not replay: %w", err)
	}
	return &tidemilltest.Result{
		Status: report.Status, Output: report.Output, State: report.State, Error: report.Error, Steps: report.Steps,
		Calls: live.Calls(), Pauses: p.opened, Answers: p.answered, Duration: time.Since(began),
	}, nil
}

// clear cancels a run that is open, and waits until it has ended.
func (s *Server) clear(ctx context.Context, runs *tidemill.Client, id string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := runs.Cancel(ctx, id, "its test is over"); err != nil {
		return err
	}
	_, err := runs.Await(ctx, id, tidemill.AwaitOptions{ThroughPauses: true})
	return err
}
