package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/workflows"
)

// long is a run so long that it continues as new, several times.
type long struct {
	title string
	graph string // its id
	below string // what the id of the workflow ends with that takes the steps
	steps int
	part  int                                // steps at the beginning that are held against as many at the end
	step  func(*historypb.HistoryEvent) bool // recognises the event of a step
}

// What is wanted of a long run.
const (
	mostEvents  = 6_000
	mostGrowth  = 1.1
	answersSoon = time.Second
)

func longLoop() long {
	return long{title: "a loop of 10,000 turns with a local body of 1 KB", graph: "long-loop", steps: 10_000, part: 1_000, step: localStep}
}

func longHeavy() long {
	// A run holds some 37 turns, and its end and beginning cost as much as some of those:
	// the halves have as many ends.
	return long{title: "a loop of 300 turns with a local body of 100 KB", graph: "long-heavy", steps: 300, part: 150, step: localStep}
}

func longMap() long {
	return long{title: "a map of 10,000 items", graph: "long-map", below: "/each#1", steps: 10_000, part: 1_000, step: remoteStep}
}

func localStep(e *historypb.HistoryEvent) bool {
	for _, p := range e.GetMarkerRecordedEventAttributes().GetDetails()["data"].GetPayloads() {
		if strings.Contains(string(p.GetData()), `"`+activities.NameLocal+`"`) {
			return true
		}
	}
	return false
}

func remoteStep(e *historypb.HistoryEvent) bool {
	return e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
}

// longDocuments are the graphs of the long runs.
func longDocuments() []string {
	turns := func(id string, turns, bytes int) string {
		return fmt.Sprintf("version: 1\nid: %s\nentry: again\nmax_steps: 100000\nnodes:\n"+
			"  - {id: again, type: loop, while: \"state.k < %d\", body: work, done: end, max_iterations: 100000}\n"+
			"  - {id: work, run: pad, mode: local, idempotent: true, timeout: 1s, args: {bytes: %d}, delta: {k: \"${ state.k + 1 }\"}, next: again}\n",
			id, turns, bytes)
	}
	items := strings.TrimSuffix(strings.Repeat("7, ", 10_000), ", ")
	return []string{
		turns("long-loop", 10_000, 1_000), turns("long-heavy", 300, 100_000),
		"version: 1\nid: long-map\nentry: each\nnodes:\n  - {id: each, type: map, max_concurrency: 100, items: [" + items +
			"], item: {run: add, args: {count: \"${ item }\"}}, next: end}\n",
	}
}

// pad gives so many bytes.
func pad(_ context.Context, in struct {
	Bytes int `json:"bytes"`
},
) (string, error) {
	return strings.Repeat("x", in.Bytes), nil
}

// live carries long runs to their ends, one after the other, and prints what they came to.
func (b *bench) live(ctx context.Context, l long, rounds int) error {
	if err := b.serve(ctx, queue); err != nil {
		return err
	}
	say("\n%s\n", l.title)
	var events, times []float64
	for range rounds {
		c, err := b.liveOnce(ctx, l)
		if err != nil {
			return err
		}
		events, times = append(events, c.events), append(times, c.time)
	}
	slices.Sort(events)
	slices.Sort(times)
	say("  the last %d steps to the first: events %.3f, time %.3f (medians of %d, times %.3f to %.3f; at most %.1f is wanted)\n\n",
		l.part, events[rounds/2], times[rounds/2], rounds, times[0], times[rounds-1], mostGrowth)
	return nil
}

func (b *bench) liveOnce(ctx context.Context, l long) (growth, error) {
	run, err := b.begin(ctx, l, "whole")
	if err != nil {
		return growth{}, err
	}
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- run.Get(ctx, nil) }()
	slowest := time.Duration(0)
	for open := true; open; {
		select {
		case err := <-done:
			if err != nil {
				return growth{}, err
			}
			open = false
		case <-time.After(time.Second):
			asked := time.Now()
			if _, err := b.client.QueryWorkflow(ctx, run.GetID()+l.below, "", workflows.QueryStatus); err == nil {
				slowest = max(slowest, time.Since(asked))
			}
		}
	}
	took := time.Since(began)
	stopped, err := b.cancelInTheMiddle(ctx, l, took/3)
	if err != nil {
		return growth{}, err
	}
	say("  took %v; the slowest query took %v, a cancel in the middle %v (%v is wanted)\n",
		took.Round(100*time.Millisecond), slowest.Round(time.Millisecond), stopped.Round(time.Millisecond), answersSoon)
	return b.printChain(ctx, l, run.GetID()+l.below)
}

func (b *bench) begin(ctx context.Context, l long, what string) (client.WorkflowRun, error) {
	b.started++
	id := fmt.Sprintf("bench-%s-%s-%d", l.graph, what, b.started)
	return b.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, l.graph, map[string]int{"k": 0})
}

// cancelInTheMiddle measures how long a long run takes to end that is cancelled.
func (b *bench) cancelInTheMiddle(ctx context.Context, l long, after time.Duration) (time.Duration, error) {
	run, err := b.begin(ctx, l, "cancelled")
	if err != nil {
		return 0, err
	}
	<-time.After(after)
	asked := time.Now()
	if err := b.client.CancelWorkflow(ctx, run.GetID(), ""); err != nil {
		return 0, err
	}
	err = run.Get(ctx, nil)
	if cancelled := new(temporal.CanceledError); err != nil && !errors.As(err, &cancelled) {
		return 0, err
	}
	return time.Since(asked), nil
}

// growth is what the last steps of a chain cost beside its first.
type growth struct{ events, time float64 }

// printChain prints how long the runs of a chain became, and what its steps took.
//
// A server has a run wait that continues another as new within a second of the start of
// that, up to a second. Such waits are no time of the steps: they are not longer where
// the steps are.
func (b *bench) printChain(ctx context.Context, l long, id string) (growth, error) {
	runs, err := b.histories(ctx, id)
	if err != nil {
		return growth{}, err
	}
	longest, all := 0, 0
	began, waited := runs[0][0].GetEventTime().AsTime(), time.Duration(0)
	at, when := []int{0}, []time.Duration{0} // by step: events so far, and the time
	for _, events := range runs {
		longest = max(longest, len(events))
		waited += firstTask(events).Sub(events[0].GetEventTime().AsTime())
		for _, e := range events {
			if all++; l.step(e) {
				at, when = append(at, all), append(when, e.GetEventTime().AsTime().Sub(began)-waited)
			}
		}
	}
	if steps := len(at) - 1; steps != l.steps {
		return growth{}, fmt.Errorf("%d steps in the histories of %s, not %d", steps, id, l.steps)
	}
	say("    runs: %d, the longest of %d events (at most %d are wanted); %.2f events a step; each tenth of the steps took",
		len(runs), longest, mostEvents, float64(all)/float64(l.steps))
	for i := range 10 {
		say(" %.1f", (when[(i+1)*l.steps/10] - when[i*l.steps/10]).Seconds())
	}
	say(" s, and %.1f s were waits of the server's\n", waited.Seconds())
	last := l.steps - l.part
	return growth{
		events: float64(at[l.steps]-at[last]) / float64(at[l.part]),
		time:   (when[l.steps] - when[last]).Seconds() / when[l.part].Seconds(),
	}, nil
}

// firstTask is when the server let a run begin.
func firstTask(events []*historypb.HistoryEvent) time.Time {
	i := slices.IndexFunc(events, func(e *historypb.HistoryEvent) bool {
		return e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
	})
	return events[i].GetEventTime().AsTime()
}

// histories are those of a chain, from its first run.
func (b *bench) histories(ctx context.Context, id string) ([][]*historypb.HistoryEvent, error) {
	var runs [][]*historypb.HistoryEvent
	for run := ""; ; {
		var events []*historypb.HistoryEvent
		iterator := b.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for iterator.HasNext() {
			event, err := iterator.Next()
			if err != nil {
				return nil, err
			}
			events = append(events, event)
		}
		runs = append([][]*historypb.HistoryEvent{events}, runs...)
		if run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			return runs, nil
		}
	}
}
