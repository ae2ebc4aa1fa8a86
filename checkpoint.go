package tidemill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// CheckpointOptions say which moment of a run is wanted.
type CheckpointOptions struct {
	RunID string // an earlier run of the id. Zero means the latest.
	// Deep adds the child runs that have not given their results, so that a redrive of the
	// export repeats nothing of them.
	Deep bool
	// Before is the address of an activation that the run may have left behind: the
	// export is the run as it stood before it. An item of a map may be named by its key.
	// Zero means that the run is wanted as it stands or ended.
	Before graph.Address
}

// Checkpoint is a run as data: what [Client.Redrive] starts from, also when the run
// itself is gone. It is made from the run's history in this process, so it needs no
// worker, and works for runs that are open, closed and terminated. A run that
// continued as new is taken with all its chain.
func (c *Client) Checkpoint(ctx context.Context, id string, o CheckpointOptions) (graph.Export, error) {
	before, err := c.named(ctx, id, o.RunID, o.Before)
	if err != nil {
		return graph.Export{}, err
	}
	x := exporter{client: c, deep: o.Deep}
	made, err := x.root(ctx, id, o.RunID, before)
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
	from  graph.Address // of a redrive, with the numbers of items
}

// named is an address in which items of maps may be named by their keys, with their
// numbers instead. The keys are those of the run as it stood when an item could be
// repeated, which stood gives.
func named(id string, at graph.Address, stood func(item graph.Address) (export, error)) (graph.Address, error) {
	for {
		over, rest, keyed := graph.Keyed(string(at))
		if !keyed {
			return at, nil
		}
		e, err := stood(over.Join(graph.Segment{}))
		if ErrorType(err) == graph.ErrTypeInvalidRunOptions {
			return "", refused(id, graph.NoItem(over, rest))
		}
		if err != nil {
			return "", err
		}
		var failure *graph.Failure
		if at, failure = e.Item(over, rest); failure != nil {
			return "", refused(id, failure)
		}
	}
}

// named is an address of a run that the server knows. Only the keys are wanted, so no
// other children are read, and none is waited for.
func (c *Client) named(ctx context.Context, id, runID string, at graph.Address) (graph.Address, error) {
	x := exporter{client: c}
	return named(id, at, func(item graph.Address) (export, error) { return x.root(ctx, id, runID, item) })
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
	var e export
	if e.stood, err = p.stood(at, x.client.options.DataConverter); err != nil {
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
	if p, err = x.rewind(ctx, &e, p, at); err != nil {
		return export{}, err
	}
	return e, x.children(ctx, &e, p, at)
}

// lasting is what of a run's options holds for its redrives too.
func lasting(o graph.RunOptions) graph.RunOptions {
	return graph.RunOptions{Lane: o.Lane, Overflow: o.Overflow, QueueTimeout: o.QueueTimeout}
}

// rewind takes the export back to where an address can be repeated, when the run has
// left it behind. It gives the run of the lineage that stood there: one that continued
// as the next, or that the next redrives.
func (x exporter) rewind(ctx context.Context, e *export, p past, at graph.Address) (past, error) {
	if at == "" || e.Checkpoint.Repeats(at) || e.holder(p, at) != nil {
		return p, nil
	}
	for stood := e.stood; ; {
		if stood.Before != nil {
			rewound, failure := graph.Rewind(e.Checkpoint, *stood.Before)
			if failure != nil {
				return p, refused(e.WorkflowID, failure)
			}
			e.Checkpoint = rewound
			return p, nil
		}
		earlier := cmp.Or(p.previous(), stood.Checkpoint.RedriveOf)
		if earlier == "" {
			return p, unknownAddress(e.Export, at, "")
		}
		var err error
		if p, err = x.client.past(ctx, p.id, earlier); err == nil {
			stood, err = p.stood(at, x.client.options.DataConverter)
		}
		switch {
		case ErrorType(err) == ErrTypeNotFound:
			return p, unknownAddress(e.Export, at, earlier)
		case err != nil:
			return p, err
		}
	}
}

// holder is the child that an address lies in; nil: none that the checkpoint has not
// left behind.
func (e *export) holder(p past, at graph.Address) *commonpb.WorkflowExecution {
	var found *commonpb.WorkflowExecution
	children := p.children()
	for _, place := range e.Checkpoint.Places() {
		for _, child := range children {
			if e.runs(child, place.Address) && e.holds(child, at) {
				found = child
			}
		}
	}
	return found
}

// children adds the children of what has not completed, the last attempt of each. That
// of the address is taken back as far as the address says.
func (x exporter) children(ctx context.Context, e *export, p past, at graph.Address) error {
	var holder *commonpb.WorkflowExecution
	if at != "" && !e.Checkpoint.Repeats(at) {
		holder = e.holder(p, at)
	}
	started := p.children()
	for _, place := range e.Checkpoint.Places() {
		var last *commonpb.WorkflowExecution
		for _, child := range started {
			if e.runs(child, place.Address) && (x.deep && !place.Completed || child == holder) && last != holder {
				last = child
			}
		}
		if last == nil {
			continue
		}
		below := graph.Address("")
		if last == holder {
			below = at
		}
		child, err := x.child(ctx, last, below)
		if err != nil {
			return err
		}
		if !place.Takes(child.Checkpoint.Outcome) {
			continue
		}
		e.Children = append(e.Children, graph.ExportedChild{Activation: place.Address, Export: child.Export})
	}
	return nil
}

// child exports a child. It stops with its parent, which may take it a moment.
func (x exporter) child(ctx context.Context, of *commonpb.WorkflowExecution, at graph.Address) (export, error) {
	id, runID := of.GetWorkflowId(), of.GetRunId()
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
	return x.export(ctx, id, runID, at)
}

// runs reports whether a child is that of a place, in whichever of its attempts.
func (e *export) runs(child *commonpb.WorkflowExecution, place graph.Address) bool {
	rest, below := strings.CutPrefix(child.GetWorkflowId(), e.root()+"/"+string(place))
	return below && (rest == "" || strings.HasPrefix(rest, "~") && !strings.Contains(rest, "/"))
}

// holds reports whether an address lies in a child.
func (e *export) holds(child *commonpb.WorkflowExecution, at graph.Address) bool {
	return strings.HasPrefix(e.root()+"/"+string(at), child.GetWorkflowId()+"/")
}

// root is the workflow id that the ids of all children begin with.
func (e *export) root() string {
	if e.stood.Child != nil {
		return e.stood.Child.Root
	}
	return e.WorkflowID
}

// unknownAddress says what there is instead, or which run of the lineage nobody knows
// any more.
func unknownAddress(e graph.Export, at graph.Address, forgotten string) error {
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
	if forgotten != "" {
		message = fmt.Sprintf("%s may be an address of the earlier run %s, which the server has forgotten: begin at one that came later", at, forgotten)
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
