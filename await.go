package tidemill

import (
	"context"
	"time"

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

// How long a server may be silent: one call, and all of them together. A server
// that restarts is back by then.
const (
	pollWithin = 10 * time.Second
	patience   = time.Minute
)

// Await waits until a run is closed or paused, and reports how. That a run
// failed is no error: look at the report's Status. While no worker can be asked,
// what the server knows is the report, and its Note says so. A server that is
// silent for a minute is given up, with an error of type server_unreachable.
func (c *Client) Await(ctx context.Context, id string, o AwaitOptions) (Report, error) {
	d, err := c.describe(ctx, id, o.RunID)
	if err != nil {
		if ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
		return Report{}, edgeErrorOf(id, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	closed := make(chan ending, 1)
	go func() { closed <- c.ended(ctx, id, d.GetWorkflowExecutionInfo().GetExecution().GetRunId()) }()
	info := d.GetWorkflowExecutionInfo()
	w := watcher{
		client: c, id: id, patience: patience, seen: make(chan Report), lost: make(chan error, 1),
		first: info.GetFirstRunId(), chain: map[string]bool{info.GetExecution().GetRunId(): true},
	}
	go w.watch(ctx)
	for {
		select {
		case e := <-closed:
			return c.closing(ctx, id, e)
		case err := <-w.lost:
			return Report{}, err
		case report := <-w.seen:
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

// watcher asks a run how it stands while it is waited for.
type watcher struct {
	client   *Client
	id       string
	patience time.Duration   // with a silent server
	first    string          // run id of the first execution of the chain
	chain    map[string]bool // execution by run id: whether it belongs to the chain
	seen     chan Report
	lost     chan error // takes one: the server is silent
}

// watch asks ever less often, until ctx ends or the server is given up.
func (w *watcher) watch(ctx context.Context) {
	hope, giveUp := context.WithTimeout(ctx, w.patience)
	for interval := firstPoll; ctx.Err() == nil; interval = min(interval*3/2, lastPoll) {
		err := w.look(ctx)
		if ErrorType(err) != ErrTypeUnreachable {
			giveUp()
			hope, giveUp = context.WithTimeout(ctx, w.patience)
		} else if hope.Err() != nil {
			w.lost <- err
			break
		}
		elapse(ctx, interval)
	}
	giveUp()
}

// look asks once, and passes on what it sees.
func (w *watcher) look(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, pollWithin)
	defer cancel()
	report, err := w.client.Status(asking, w.id)
	if err != nil {
		return err
	}
	if !w.continues(asking, report) {
		return nil
	}
	select {
	case w.seen <- report:
	case <-ctx.Done():
	}
	return nil
}

// continues reports whether an execution belongs to the chain that is waited
// for, and not to a later use of the same id.
func (w *watcher) continues(ctx context.Context, report Report) bool {
	belongs, known := w.chain[report.RunID]
	if known {
		return belongs
	}
	d, err := w.client.describe(ctx, report.ID, report.RunID)
	if err != nil {
		return false
	}
	w.chain[report.RunID] = w.first != "" && d.GetWorkflowExecutionInfo().GetFirstRunId() == w.first
	return w.chain[report.RunID]
}
