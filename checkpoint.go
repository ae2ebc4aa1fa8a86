package tidemill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// CheckpointOptions say which moment of a run is wanted.
type CheckpointOptions struct {
	RunID string // an earlier run of the id. Zero means the latest.
	// Deep adds the child runs that have not completed, so that a redrive of the
	// export repeats nothing of them.
	Deep bool
	// Before is the address of an activation that the run may have left behind: the
	// export is the run as it stood before it. Zero means that the run is wanted as it
	// stands or ended.
	Before graph.Address
}

// Checkpoint is a run as data: what [Client.Redrive] starts from, also when the run
// itself is gone. It is made from the run's history in this process, so it needs no
// worker, and works for runs that are open, closed and terminated. A run that
// continued as new is taken with all its chain.
func (c *Client) Checkpoint(ctx context.Context, id string, o CheckpointOptions) (graph.Export, error) {
	x := exporter{client: c, deep: o.Deep}
	made, err := x.root(ctx, id, o.RunID, o.Before)
	return made.Export, err
}

// exporter makes exports of runs and their children.
type exporter struct {
	client *Client
	deep   bool
	// patience is how long a child may take to close; zero: open ones are taken as
	// they stand.
	patience time.Duration
}

// export is an export, with what is known of its run besides.
type export struct {
	graph.Export

	stood workflows.Stood
	// from is where a redrive of it has to begin; empty: where it stands, which may be
	// before the address that was asked for.
	from graph.Address
}

// root exports a run that no other graph started.
func (x exporter) root(ctx context.Context, id, runID string, at graph.Address) (export, error) {
	if at != "" {
		if _, err := graph.ParseAddress(string(at)); err != nil {
			return export{}, &RunError{Type: graph.ErrTypeInvalidRunOptions, ID: id, Err: err, Message: fmt.Sprintf(
				"%q is no address; addresses are like ship#1, each#1/17 or review#2/charge#1", at)}
		}
	}
	if runID == "" {
		d, err := x.client.describe(ctx, id, "")
		if err != nil {
			return export{}, edgeErrorOf(id, err)
		}
		runID = d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	}
	return x.export(ctx, id, runID, at)
}

// export exports the run at the end of a chain.
func (x exporter) export(ctx context.Context, id, runID string, at graph.Address) (export, error) {
	p, err := x.client.past(ctx, id, runID)
	for err == nil && p.next() != "" {
		p, err = x.client.past(ctx, id, p.next())
	}
	if err != nil {
		return export{}, err
	}
	e := export{from: at}
	if e.stood, err = p.stood(at, x.client.converter()); err != nil {
		return export{}, err
	}
	e.Export = graph.Export{
		Version: graph.ExportVersion, WorkflowID: id, RunID: p.runID, Started: e.stood.Started,
		Input: e.stood.Input, Checkpoint: e.stood.Checkpoint,
		Document: e.stood.Pin.Document, Graphs: e.stood.Pin.Graphs,
	}
	if e.stood.Child == nil {
		e.TaskQueue, e.Options = p.started().GetTaskQueue().GetName(), lasting(e.stood.Pin.Options)
	}
	if err := x.rewind(ctx, &e, p, at); err != nil {
		return export{}, err
	}
	return e, x.children(ctx, &e, p, at)
}

// lasting is what of a run's options holds for its redrives too.
func lasting(o graph.RunOptions) graph.RunOptions {
	return graph.RunOptions{Lane: o.Lane, Overflow: o.Overflow, QueueTimeout: o.QueueTimeout}
}

// rewind takes the export back to where an address can be repeated, when the run has
// left it behind, through the runs before it.
func (x exporter) rewind(ctx context.Context, e *export, p past, at graph.Address) error {
	if at == "" || e.Checkpoint.Repeats(at) || holding(e.Checkpoint, at) != nil {
		return nil
	}
	before := e.stood.Before
	for before == nil && p.previous() != "" {
		var err error
		if p, err = x.client.past(ctx, p.id, p.previous()); err != nil {
			return err
		}
		stood, err := p.stood(at, x.client.converter())
		if err != nil {
			return err
		}
		before = stood.Before
	}
	if before == nil {
		return unknownAddress(e.Export, at)
	}
	rewound, failure := graph.Rewind(e.Checkpoint, *before)
	if failure != nil {
		return refused(e.WorkflowID, failure)
	}
	e.Checkpoint = rewound
	if !rewound.Repeats(at) && holding(rewound, at) == nil {
		e.from = "" // it stands just before
	}
	return nil
}

// holding is the activation whose child an address lies in; nil: none.
func holding(cp graph.Checkpoint, at graph.Address) *graph.Activation {
	for i := range cp.Activations {
		if a := &cp.Activations[i]; a.Address != "" && inside(at, a.Address) && a.Mapping == nil {
			return a
		}
	}
	return nil
}

// inside reports whether an address lies below an activation, in whichever of its
// attempts.
func inside(at, activation graph.Address) bool {
	rest, below := strings.CutPrefix(string(at), string(activation))
	return below && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "~"))
}

// children adds the children of activations that have not settled. That of the
// address is taken back as far as the address says.
func (x exporter) children(ctx context.Context, e *export, p past, at graph.Address) error {
	started := p.children()
	for i := range e.Checkpoint.Activations {
		a := &e.Checkpoint.Activations[i]
		inIt := at != "" && a.Address != "" && inside(at, a.Address) && a.Mapping == nil
		if a.Address == "" || !x.deep && !inIt {
			continue
		}
		// The last attempt, unless another is asked for.
		var id, runID string
		for _, child := range started {
			if belongs(child.GetWorkflowId(), e.root(), a.Address) &&
				(!inIt || childHolds(child.GetWorkflowId(), e.root(), at)) {
				id, runID = child.GetWorkflowId(), child.GetRunId()
			}
		}
		if id == "" {
			continue
		}
		below := graph.Address("")
		if inIt {
			below = at
		}
		child, err := x.child(ctx, id, runID, below)
		if err != nil {
			return err
		}
		if inIt {
			e.from = child.from
		}
		if child.Checkpoint.Outcome != nil && child.Checkpoint.Outcome.Status == graph.StatusCompleted {
			continue // it has nothing left to do, and is started again if it is wanted again
		}
		e.Children = append(e.Children, graph.ExportedChild{Activation: a.Address, Export: child.Export})
	}
	return nil
}

// child exports a child. It stops with its parent, which may take it a moment.
func (x exporter) child(ctx context.Context, id, runID string, at graph.Address) (export, error) {
	if x.patience > 0 {
		err := x.client.closedWithin(ctx, id, runID, x.patience)
		if errors.Is(err, errNoTime) {
			return export{}, &RunError{Type: ErrTypeAlreadyExists, ID: id, Err: err, Message: fmt.Sprintf(
				"this child (run id %s) is still open after %v, though it was asked to stop with its parent; cancel it, or wait for it", runID, x.patience)}
		}
		if err != nil {
			return export{}, err
		}
	}
	child, err := x.export(ctx, id, runID, at)
	child.Input = nil // it stands in the checkpoint's own words
	return child, err
}

// root is the workflow id that the ids of all children begin with.
func (e *export) root() string {
	if e.stood.Child != nil {
		return e.stood.Child.Root
	}
	return e.WorkflowID
}

// belongs reports whether a workflow id is that of a child of an activation, in any
// attempt.
func belongs(id, root string, activation graph.Address) bool {
	rest, below := strings.CutPrefix(id, root+"/"+string(activation))
	return below && (rest == "" || strings.HasPrefix(rest, "~"))
}

// childHolds reports whether an address lies in the child of a workflow id.
func childHolds(id, root string, at graph.Address) bool {
	return strings.HasPrefix(root+"/"+string(at), id+"/")
}

// unknownAddress says what there is instead.
func unknownAddress(e graph.Export, at graph.Address) error {
	leaf := at.Segments()[0]
	near := visits(e.Checkpoint, leaf.Node)
	message := fmt.Sprintf("the run has never come to %s", at)
	switch {
	case near != "":
		message += "; of " + leaf.Node + " it has " + near
	default:
		var all []string
		for _, n := range e.Checkpoint.Nodes {
			all = append(all, visits(e.Checkpoint, n.Node))
		}
		message += "; it has come to " + strings.Join(all[:min(len(all), maxNear)], ", ")
		if len(all) > maxNear {
			message += fmt.Sprintf(" and %d other nodes", len(all)-maxNear)
		}
	}
	return &RunError{Type: graph.ErrTypeInvalidRunOptions, ID: e.WorkflowID, Message: message}
}

// maxNear is how many addresses an error names.
const maxNear = 10

// visits are the addresses that a node has had.
func visits(cp graph.Checkpoint, node string) string {
	i := slices.IndexFunc(cp.Nodes, func(n graph.NodeRecord) bool { return n.Node == node })
	switch {
	case i < 0:
		return ""
	case cp.Nodes[i].Visits < 2:
		return node + "#1"
	default:
		return fmt.Sprintf("%s#1 to %s#%d", node, node, cp.Nodes[i].Visits)
	}
}

// converter is how payloads are read.
func (c *Client) converter() converter.DataConverter { return c.options.DataConverter }

// closedRun is the latest run of an id, which must have closed.
func (c *Client) closedRun(ctx context.Context, id string) (string, error) {
	d, err := c.describe(ctx, id, "")
	if err != nil {
		return "", edgeErrorOf(id, err)
	}
	info := d.GetWorkflowExecutionInfo()
	runID := info.GetExecution().GetRunId()
	if open(info) || info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
		return "", &RunError{Type: ErrTypeAlreadyExists, ID: id, Message: fmt.Sprintf(
			"the run is open (run id %s), and only one that has closed is redriven; answer it if it is paused, or cancel it first", runID)}
	}
	return runID, nil
}
