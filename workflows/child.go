package workflows

import (
	"encoding/json"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// The longest ids that servers take, in bytes.
const (
	maxWorkflowID = 1000
	// maxPrefix leaves a child room for what it does itself: an activity's id is the
	// child's address and one more segment. A task that asks for a longer id fails
	// for ever.
	maxPrefix = 1000 - 100
)

// childID is the workflow id of a child. It holds the whole address, so that no two
// attempts of a run's lineage share one.
func childID(e graph.StartChild) string { return e.Start.Root + "/" + string(e.Start.Address) }

// startChild starts the workflow of a child graph, or of a map's own run, and
// queues how it ends.
func (r *run) startChild(ctx workflow.Context, e graph.StartChild) {
	if id := childID(e); len(id) > maxWorkflowID || len(e.Start.Address) > maxPrefix {
		r.push(func(now time.Time) { r.machine.End(now, e.Address, longID(e)) })
		return
	}
	if e.Document != nil {
		e.Start.Documents = r.documents(e.Document)
	}
	arguments, size := childArguments(e)
	r.budget.command(ctx, size)
	ctx, cancel := workflow.WithCancel(workflow.WithChildOptions(ctx, childOptions(e)))
	r.open[e.Address] = cancel
	r.children[e.Address] = workflow.Execution{ID: childID(e)}
	future := workflow.ExecuteChildWorkflow(ctx, e.Graph, arguments...)
	workflow.GoNamed(ctx, string(e.Address), func(ctx workflow.Context) { r.followChild(ctx, e, future) })
}

// followChild waits for a child to start and to end.
func (r *run) followChild(ctx workflow.Context, e graph.StartChild, future workflow.ChildWorkflowFuture) {
	var execution workflow.Execution
	if err := future.GetChildWorkflowExecution().Get(ctx, &execution); err == nil {
		r.children[e.Address] = execution
		r.note(func(time.Time) { r.machine.Started(e.Address, execution.ID, execution.RunID) })
	}
	ended := activities.EndedChild{Graph: e.Graph, Map: e.Start.Map != nil}
	ended.Err = future.Get(ctx, &ended.Result)
	ended.Asked = ctx.Err() != nil
	delete(r.open, e.Address)
	delete(r.children, e.Address)
	if !ended.Asked && len(e.Start.Documents) == 0 && activities.UnknownGraph(ended.Err) {
		r.handOver(e)
		return
	}
	ending := activities.EndingOfChild(ended)
	r.push(func(now time.Time) { r.machine.End(now, e.Address, ending) })
}

// handOver has a child started again, with the documents it is to run: no worker
// has them any more, but this run is bound to them. It is no attempt, for nothing
// of the child has run.
func (r *run) handOver(e graph.StartChild) {
	document := r.document(e)
	if document == nil {
		blocked("a child cannot be started", fmt.Errorf("the pin lacks graph %q", e.Graph))
	}
	e.Start.Documents = r.documents(document)
	r.note(func(now time.Time) {
		if r.machine.Running(e.Address) {
			r.wanted = append(r.wanted, e)
			return
		}
		// It was asked to stop meanwhile, when there was nothing to be stopped.
		r.machine.End(now, e.Address, withdrawnEnding())
	})
}

// document is the graph of a child, from the pin. A map's own run has the graph of
// this one; a graph that it names may have the same id, when this one stands in a
// document.
func (r *run) document(e graph.StartChild) *graph.Document {
	if e.Start.Fingerprint == r.pin.Fingerprint {
		return r.pin.Document
	}
	for _, d := range r.pin.Graphs {
		if d.ID == e.Graph {
			return d
		}
	}
	return nil
}

// documents are a graph and every graph that it names.
func (r *run) documents(of *graph.Document) []*graph.Document {
	named, _ := activities.Closure(of, r.pin.Graphs)
	return append([]*graph.Document{of}, named...)
}

// longID is how a child ends whose id, or that of what it does, no server takes.
func longID(e graph.StartChild) graph.Ending {
	return graph.Ending{Kind: graph.Failed, Final: true, Failure: graph.Failf(graph.ErrTypeChildStartFailed,
		"the child's workflow id would have %d bytes and its address %d; at most %d and %d are taken: nest less deeply, or give the nodes or the run shorter ids",
		len(childID(e)), len(e.Start.Address), maxWorkflowID, maxPrefix)}
}

// childArguments are what a child is started with, and their bytes: its input, no
// options, and what it inherits.
func childArguments(e graph.StartChild) (arguments []any, size int) {
	for _, v := range []any{e.Input, json.RawMessage("null"), e.Start} {
		argument, err := activities.Plain(v)
		if err != nil {
			blocked("the arguments of a child cannot be written", err)
		}
		arguments, size = append(arguments, argument), size+len(argument.Payload().GetData())
	}
	return arguments, size
}

// childSize is about how many bytes of the workflow task the command of a child
// takes.
func (r *run) childSize(e graph.StartChild) int {
	const facts = 4 << 10 // of the run, options and what the server adds
	size := facts + len(e.Input)
	if e.Start.Map != nil {
		size += len(e.Start.Map.Input) + len(e.Start.Map.Items)
	}
	if e.Start.Redriven != nil {
		size += e.Start.Redriven.Size()
	}
	documents := e.Start.Documents
	if e.Document != nil {
		documents = r.documents(e.Document)
	}
	for _, d := range documents {
		if raw, err := d.Canonical(); err == nil {
			size += len(raw)
		}
	}
	return size
}

// childOptions say how a child is started. Time, retries and the end of the parent
// are the graph's business: a child that outlives its parent is asked to stop, so
// that it can stop in good order.
func childOptions(e graph.StartChild) workflow.ChildWorkflowOptions {
	what := e.Graph
	if e.Start.Map != nil {
		what += " · items of " + e.Start.Map.Node
	}
	return workflow.ChildWorkflowOptions{
		WorkflowID:          childID(e),
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation: true,
		StaticSummary:       cut(what+" · "+string(e.Start.Address), maxCell),
		StaticDetails:       fmt.Sprintf("Part of the run %s, at %s.\n", code(cut(e.Start.Root, maxCell)), code(cut(string(e.Start.Address), maxCell))),
	}
}

// forward hands an answer to the child that has its pause, or knows who has.
func (r *run) forward(ctx workflow.Context, e graph.Forward) {
	child, open := r.children[e.Address]
	if !open {
		r.push(func(now time.Time) { r.unheard(now, e) })
		return
	}
	message, err := activities.Plain(graph.ForwardedAnswer{Request: e.Request, Answer: e.Answer})
	if err != nil {
		blocked("an answer cannot be written", err)
	}
	r.budget.command(ctx, len(message.Payload().GetData()))
	// No run id: the child may have continued as new since it began.
	future := workflow.SignalExternalWorkflow(ctx, child.ID, "", SignalAnswer, message)
	workflow.GoNamed(ctx, "answer for "+string(e.Address), func(ctx workflow.Context) {
		if future.Get(ctx, nil) != nil {
			r.push(func(now time.Time) { r.unheard(now, e) })
		}
	})
}

// unheard replies in place of a child that has closed.
func (r *run) unheard(now time.Time, e graph.Forward) {
	r.machine.Told(now, graph.ChildReport{Replies: []graph.Reply{{
		Request: e.Request,
		Failure: graph.Failf(graph.ErrTypePauseClosed, "pause %s closed before the answer was taken", e.Answer.PauseID),
	}}})
}
