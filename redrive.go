package tidemill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// RedriveOptions say how a run that has closed is taken up again. The zero value goes
// on where it stood.
type RedriveOptions struct {
	RunID string // which run of the id. Zero means the latest.
	// From is the address of what is repeated, with everything behind it, committed or
	// not: an activation (ship#1), an item of a map by its number or its key (each#1/17,
	// each#1/acme), or one of these in a child (review#1/charge#1). Zero means that nothing
	// committed is repeated.
	From graph.Address
	// Spec is a corrected graph to go on with. The worker must allow it, unless it is its
	// own. Zero means the graph that the run was bound to.
	Spec     []byte
	SpecName string // stands in the diagnostics of Spec, such as its file name
	// Deadline is the new budget of running time. Zero means the graph's; -1 is none.
	Deadline time.Duration
	MaxSteps int // Zero means what is left of the old budget.
	// Export is a run as data, as [Client.Checkpoint] gave it, or the checkpoint that the
	// query of that name gives: for runs that the server has forgotten. Zero means that
	// the server is asked.
	Export    json.RawMessage
	TaskQueue string // Zero means the one the run had, else the client's.
	DryRun    bool   // say what would happen, and start nothing
}

// Redriven is a run that takes up another one, or what it would be.
type Redriven struct {
	Run // without a run id after a dry run

	// Plan is what is reused, repeated and dropped. Nil when only the workers can tell:
	// the graph names one that is not known here.
	Plan *graph.RedrivePlan `json:"plan,omitempty"`
}

// redriveWait is how long children that stop with their parent may take: an action has
// 30 s by default.
const redriveWait = time.Minute

// Redrive takes up a run that has closed: a new execution with the same workflow id,
// type and task queue goes on from where the old one stood. What has committed is not
// repeated. The old run id stands in the new run's memo, in its static details as a
// link, and in its status.
//
// Everything that can be known here is checked before anything is started; the worker
// checks all of it again. A run that is open, or that was started by another graph, is
// refused: the latter is redriven through that one. Of two redrives of one run at the
// same time one is started, and the other gets an [*AlreadyExistsError].
func (c *Client) Redrive(ctx context.Context, id string, o RedriveOptions) (Redriven, error) {
	if o.Deadline < -1 {
		return Redriven{}, refused(id, graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the deadline is %v, so it lies in the past; give a length of time, or -1 for none", o.Deadline))
	}
	latest, err := c.redrivable(ctx, id, o)
	if err != nil {
		return Redriven{}, err
	}
	e, err := c.taken(ctx, id, latest, o)
	if err != nil {
		return Redriven{}, err
	}
	if err := c.catchUp(ctx, &e, id, latest); err != nil {
		return Redriven{}, err
	}
	s := start{id: id, graph: e.Checkpoint.Graph, queue: o.TaskQueue}
	plan, err := c.planned(&s, e, o)
	redriven := Redriven{Run: Run{ID: id, Graph: s.graph, Fingerprint: s.fingerprint}, Plan: plan}
	if err != nil {
		return redriven, err
	}
	if err := s.carry(e, o); err != nil || o.DryRun {
		return redriven, err
	}
	if s.earlier, err = c.earlier(ctx, e); err != nil {
		return redriven, err
	}
	if s.queue == "" {
		if s.queue = e.TaskQueue; s.queue == "" {
			s.queue = c.options.TaskQueue
		}
	}
	// Somebody may have been faster, and that redrive have closed already.
	if now, err := c.redrivable(ctx, id, o); err != nil || now != latest {
		if err == nil {
			err = &AlreadyExistsError{ID: id, RunID: now}
		}
		return redriven, err
	}
	redriven.Run, err = c.launch(ctx, s)
	return redriven, err
}

// redrivable is the latest run of an id, which must have closed; empty when the server
// has none and an export stands in for it.
func (c *Client) redrivable(ctx context.Context, id string, o RedriveOptions) (string, error) {
	if root, address, ok := childID(id); ok {
		d, err := c.describe(ctx, id, "")
		if err == nil && d.GetWorkflowExecutionInfo().GetParentExecution() != nil {
			return "", throughRoot(id, root, address, o.From)
		}
	}
	runID, err := c.closedRun(ctx, id)
	var gone *serviceerror.NotFound
	if o.Export != nil && errors.As(err, &gone) {
		return "", nil
	}
	return runID, err
}

// childID takes the workflow id of a child run apart.
func childID(id string) (root string, address graph.Address, ok bool) {
	for i := range len(id) {
		if id[i] != '/' || i == 0 {
			continue
		}
		if _, err := graph.ParseAddress(id[i+1:]); err == nil {
			return id[:i], graph.Address(id[i+1:]), true
		}
	}
	return "", "", false
}

// throughRoot says how a child is redriven.
func throughRoot(id, root string, address, from graph.Address) error {
	if from == "" || !strings.HasPrefix(string(from), string(address)) {
		from = address
	}
	return &RunError{Type: graph.ErrTypeInvalidRunOptions, ID: id, Message: fmt.Sprintf(
		"this run is part of %q, at %s, and is redriven through it: name %q; from %s repeats this one, and %s/NODE#1 a node of it",
		root, address, root, from, address)}
}

// taken is the run to take up: from the server, or as it was exported.
func (c *Client) taken(ctx context.Context, id, latest string, o RedriveOptions) (export, error) {
	if o.Export == nil {
		if o.RunID == "" {
			o.RunID = latest
		}
		from, err := c.named(ctx, id, o.RunID, o.From)
		if err != nil {
			return export{}, err
		}
		x := exporter{client: c, deep: true, patience: redriveWait}
		e, err := x.root(ctx, id, o.RunID, from)
		e.from = from
		if err == nil && e.stood.Child != nil {
			err = throughRoot(id, e.stood.Child.Root, e.stood.Child.Address, o.From)
		}
		return e, err
	}
	parsed, failure := graph.ParseExport(o.Export)
	switch {
	case failure != nil:
		return export{}, refused(id, failure)
	case parsed.Checkpoint.Version != graph.CheckpointVersion || !graph.ValidID(parsed.Checkpoint.Graph):
		return export{}, refused(id, graph.Failf(graph.ErrTypeInvalidCheckpoint,
			"not a run as data: it has no checkpoint of version %d that names a graph; make one with starter checkpoint --deep, and do not edit it", graph.CheckpointVersion))
	case parsed.Checkpoint.Child != nil:
		return export{}, throughRoot(id, parsed.Checkpoint.Child.Root, parsed.Checkpoint.Child.Prefix, o.From)
	case parsed.WorkflowID != "" && parsed.WorkflowID != id:
		return export{}, refused(id, graph.Failf(graph.ErrTypeCheckpointWorkflow,
			"the export is of the run %q; name that one, for idempotency keys and children belong to it", parsed.WorkflowID))
	}
	e := export{Export: parsed}
	e.stood.Checkpoint = parsed.Checkpoint
	var err error
	e.from, err = named(id, o.From, func(graph.Address) (export, error) { return e, nil })
	return e, err
}

// catchUp makes an earlier run of a lineage go on counting where the latest has got to:
// an address, and with it an idempotency key, is never used twice.
func (c *Client) catchUp(ctx context.Context, e *export, id, latest string) error {
	if latest == "" || latest == e.RunID {
		return nil
	}
	last, err := exporter{client: c}.export(ctx, id, latest, "")
	switch {
	case ErrorType(err) == graph.ErrTypeInvalidCheckpoint, ErrorType(err) == graph.ErrTypeUnknownGraph:
		return nil // it has used none
	case err != nil:
		return err
	case last.Checkpoint.Lineage != e.Checkpoint.Lineage:
		return nil
	}
	rewound, failure := graph.Rewind(last.Checkpoint, e.Checkpoint)
	if failure != nil {
		return refused(id, graph.Failf(failure.Type, "this run was redriven already, as run %s, and the two do not fit: %s", last.RunID, failure.Message))
	}
	e.Checkpoint = rewound
	return nil
}

// planned finds the graph to go on with, and what it would do.
func (c *Client) planned(s *start, e export, o RedriveOptions) (*graph.RedrivePlan, error) {
	document, graphs := e.Document, e.Graphs
	s.document, s.fingerprint, s.linked = document, e.Checkpoint.Fingerprint, true
	if o.Spec != nil {
		compiled, err := c.corrected(e, o)
		if err != nil {
			return nil, err
		}
		s.know(compiled)
		document, graphs = compiled.Document, compiled.Closure
	}
	if document == nil || !s.linked {
		if o.DryRun {
			return nil, refused(s.id, graph.Failf(graph.ErrTypeUnknownGraph,
				"the graph %q, or one that it names, is not known here, so there is no telling what would happen; give an export made with its documents, or the graph as the spec", s.graph))
		}
		return nil, nil //nolint:nilnil // there is none
	}
	plan, err := graph.NewPlan(document, graphs...)
	if err != nil {
		return nil, refused(s.id, graph.Failf(graph.ErrTypeInvalidDocument, "%v", err))
	}
	_, planned, failure := graph.Redrive(plan, e.Export, graph.Redriving{
		From: e.from, Deadline: graph.Duration(o.Deadline), MaxSteps: o.MaxSteps, Now: e.Started,
		Corrected: o.Spec != nil, Limit: max(e.stood.Pin.Limits.State, maxLimit),
	})
	switch {
	case failure != nil && failure.Type == graph.ErrTypeCheckpointComplete:
		return nil, refused(s.id, graph.Failf(failure.Type,
			"the run has completed, and nothing is left to do; to repeat a part of it, name its address as --from (From)"))
	case failure != nil:
		return nil, refused(s.id, failure)
	}
	return &planned, nil
}

// corrected compiles the graph to go on with, against the graphs that are known here
// and those that the run was bound to.
func (c *Client) corrected(e export, o RedriveOptions) (*graph.Compiled, error) {
	compiled, err := c.document(StartOptions{Graph: e.Checkpoint.Graph, Spec: o.Spec, SpecName: o.SpecName})
	if err != nil || compiled.Linked() {
		return compiled, err
	}
	var bound []*graph.Compiled
	for _, d := range e.Graphs {
		if known, _ := graph.CompileDocument(d, graph.CompileOptions{}); known != nil {
			bound = append(bound, known)
		}
	}
	linked, _ := graph.Link(compiled, func(id string) *graph.Compiled {
		for _, known := range bound {
			if known.Document.ID == id {
				return known
			}
		}
		return nil
	})
	if linked == nil {
		return compiled, nil
	}
	return linked, nil
}

// carry writes the arguments of the run, and sees that a server takes them.
func (s *start) carry(e export, o RedriveOptions) error {
	s.input = e.Input
	if s.input == nil {
		s.input = json.RawMessage("null")
	}
	carried := e.Export
	carried.Input, carried.TaskQueue, carried.Options = nil, "", graph.RunOptions{}
	checkpoint, err := json.Marshal(carried)
	if err == nil {
		s.options, err = value.Marshal(graph.RunOptions{
			Checkpoint: checkpoint, From: e.from, Spec: specPayload(o.Spec),
			Deadline: graph.Duration(o.Deadline), MaxSteps: o.MaxSteps,
			Lane: e.Options.Lane, Overflow: e.Options.Overflow, QueueTimeout: e.Options.QueueTimeout,
		})
	}
	if err != nil {
		return refused(s.id, graph.Failf(graph.ErrTypeInvalidCheckpoint, "the run cannot be written as JSON: %v", err))
	}
	if size := len(s.input) + len(s.options); size > maxLimit {
		return refused(s.id, graph.Failf(graph.ErrTypeStateTooLarge,
			"the run with its %d children has %d bytes, and a server takes at most %d: begin from an address further back, where less was open", len(e.Children), size, maxLimit))
	}
	if _, failure := graph.ParseRunOptions(s.options); failure != nil {
		return refused(s.id, failure)
	}
	return nil
}

// earlier is what the new run's page says of the old one.
func (c *Client) earlier(ctx context.Context, e export) (*earlier, error) {
	namespace, err := c.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	ended := "was terminated"
	if how := e.stood.Checkpoint.Outcome; how != nil {
		ended = "ended as " + strings.ReplaceAll(string(how.Status), "_", " ")
		if how.Failure != nil && how.Status == graph.StatusFailed {
			ended += ", `" + how.Failure.Type + "`"
		}
	}
	return &earlier{namespace: namespace, runID: e.RunID, ended: ended}, nil
}
