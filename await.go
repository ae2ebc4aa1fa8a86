package tidemill

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/tidemill/tidemill/graph"
)

// AwaitOptions say what to wait for.
type AwaitOptions struct {
	RunID string // an earlier run of the id. Zero means the latest.
	// ThroughPauses waits until the run is closed. Zero means that a paused run
	// ends the wait as well.
	ThroughPauses bool
	// Progress, when given, is called with every report that is seen on the way,
	// from one goroutine at a time.
	Progress func(Report)
}

// How often an open run is asked.
const (
	firstPoll = 200 * time.Millisecond
	lastPoll  = 2 * time.Second
)

// Await waits until a run is closed or paused, and reports how. That a run
// failed is no error: look at the report's Status. While no worker can be asked,
// what the server knows is the report, and its Note says so.
func (c *Client) Await(ctx context.Context, id string, o AwaitOptions) (Report, error) {
	d, err := c.describe(ctx, id, o.RunID)
	if err != nil {
		return Report{}, edgeErrorOf(id, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	closed := make(chan ending, 1)
	go func() { closed <- c.ended(ctx, id, d.GetWorkflowExecutionInfo().GetExecution().GetRunId()) }()
	seen := make(chan Report)
	go c.watch(ctx, d, seen)
	for {
		select {
		case e := <-closed:
			return c.closing(ctx, id, e)
		case report := <-seen:
			if o.Progress != nil {
				o.Progress(report)
			}
			if report.Status == graph.StatusPaused && !o.ThroughPauses {
				return report, nil
			}
		}
	}
}

// closing is the report of a run that has closed.
func (c *Client) closing(ctx context.Context, id string, e ending) (Report, error) {
	if ctx.Err() != nil {
		return Report{}, ctx.Err()
	}
	if !e.closed() {
		elapse(ctx, firstPoll) // the server may have noticed the caller's deadline first
		if ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
		return Report{}, edgeErrorOf(id, e.err)
	}
	filled := e.fill(Report{})
	if filled.ID != "" && string(filled.State) != "null" && filled.State != nil { // the run said it all
		return filled, nil
	}
	return c.statusOf(ctx, id, e.runID)
}

// watch asks the run how it stands, ever less often, until ctx ends.
func (c *Client) watch(ctx context.Context, d *workflowservice.DescribeWorkflowExecutionResponse, seen chan<- Report) {
	info := d.GetWorkflowExecutionInfo()
	chain := map[string]bool{info.GetExecution().GetRunId(): true}
	for interval := firstPoll; ctx.Err() == nil; interval = min(interval*3/2, lastPoll) {
		report, err := c.Status(ctx, info.GetExecution().GetWorkflowId())
		if err == nil && c.continues(ctx, chain, info.GetFirstRunId(), report) {
			select {
			case seen <- report:
			case <-ctx.Done():
			}
		}
		elapse(ctx, interval)
	}
}

// continues reports whether a run belongs to the chain of runs that is waited
// for, and not to a later use of the same id.
func (c *Client) continues(ctx context.Context, chain map[string]bool, first string, report Report) bool {
	belongs, known := chain[report.RunID]
	if known {
		return belongs
	}
	d, err := c.describe(ctx, report.ID, report.RunID)
	if err != nil {
		return false
	}
	chain[report.RunID] = first != "" && d.GetWorkflowExecutionInfo().GetFirstRunId() == first
	return chain[report.RunID]
}
