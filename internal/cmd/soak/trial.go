package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
)

// trial is one run.
type trial struct {
	id       string
	kind     kind
	input    int
	answered bool
	ended    bool
	report   tidemill.Report
}

// follow looks at runs until all have ended, answers those that ask, and calls between
// with how many have ended.
func (f *field) follow(ctx context.Context, trials []*trial, between func(ended int) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ended := 0
	for at := 0; ended < len(trials); at = (at + 1) % len(trials) {
		t := trials[at]
		if t.ended {
			if at > 0 {
				continue
			}
		} else if f.look(ctx, t); t.ended {
			ended++
		}
		if err := between(ended); err != nil {
			return err
		}
		if at%20 != 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d runs have ended, and %s has not: %w", ended, len(trials), openOf(trials), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

func openOf(trials []*trial) string {
	for _, t := range trials {
		if !t.ended {
			return t.id
		}
	}
	return "none"
}

// look looks at a run once. A worker or server that is lost does not answer, and is asked
// again the next time.
func (f *field) look(ctx context.Context, t *trial) {
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	described, err := f.client.DescribeWorkflow(short, t.id, "") // needs no worker, unlike the status
	if err != nil || described.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING && (t.answered || !t.kind.asks) {
		return
	}
	report, err := f.runs.Status(short, t.id)
	if err != nil || report.Note != "" {
		return
	}
	if report.Finished != nil {
		t.report, t.ended = report, true
		return
	}
	if t.kind.asks && !t.answered && len(report.Pauses) == 1 {
		_, err := f.runs.Resume(short, t.id, tidemill.ResumeOptions{
			PauseID: string(report.Pauses[0].ID), Digest: report.Pauses[0].Digest, Input: json.RawMessage(answer),
			UpdateID: "answer-of-" + t.id, Wait: 2 * time.Second,
		})
		t.answered = err == nil
	}
}

// outcome is what must be the same however often a worker is lost.
func (t *trial) outcome() string {
	failure := ""
	if t.report.Error != nil {
		failure = t.report.Error.Type
	}
	return fmt.Sprintf("%s, output %s, state %s, error %q, after %d steps", t.report.Status, t.report.Output, t.report.State, failure, t.report.Steps)
}

// conclude compares outcomes, reads all histories and judges.
func (f *field) conclude(ctx context.Context, r *result, calm, fired []*trial) error {
	want := map[string]string{}
	for _, t := range calm {
		want[t.kind.id+t.kind.inputs[t.input]] = t.outcome()
		if t.report.Status != tidemill.StatusCompleted {
			r.faults = append(r.faults, fmt.Sprintf("%s did not complete, undisturbed: %s", t.id, t.outcome()))
		}
	}
	a := &archive{client: f.client, commits: map[place][]commit{}, silences: map[place][]time.Time{}}
	for _, t := range append(calm, fired...) {
		if got, want := t.outcome(), want[t.kind.id+t.kind.inputs[t.input]]; got != want {
			r.faults = append(r.faults, fmt.Sprintf("%s ended as %s; undisturbed it is %s", t.id, got, want))
		}
		if err := a.read(ctx, t.id, ""); err != nil {
			return err
		}
	}
	for _, t := range fired {
		r.ended[t.kind.id]++
	}
	if err := a.read(ctx, permits.WorkflowID(""), ""); err != nil {
		return err
	}
	r.verdict = judge(evidence{entries: f.ledger.all(), commits: a.commits, silences: a.silences, losses: f.losses})
	r.faults, r.worst, r.replayed = append(r.faults, a.faults...), a.worst, a.runs
	if f.kills == 0 {
		r.faults = append(r.faults, "no worker was killed, so nothing was tested: give it more runs")
	}
	if f.restart && f.restarts == 0 {
		r.faults = append(r.faults, "the server was not restarted")
	}
	return nil
}

func portOf(address string) (int, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}
