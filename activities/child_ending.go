package activities

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// EndedChild is how the workflow of a child graph, or of a map's own run, closed.
type EndedChild struct {
	Graph  string          // its workflow type
	Map    bool            // it ran a map
	Asked  bool            // the run that started it had asked it to stop
	Result json.RawMessage // when Err is nil
	Err    error           // of Temporal, as waiting for the child gave it
}

// causeTerminated is the type of a cause that no run reports: an operator ended it.
const causeTerminated = "terminated"

// EndingOfChild says how the node of a child graph ended. It reads nothing but its
// argument, so a replay reads the same.
//
// What the child itself reports is the cause of the node's failure. A map's own run
// is a part of the run that started it, so its failure is the map's.
func EndingOfChild(c EndedChild) graph.Ending {
	if c.Err == nil {
		return c.returned()
	}
	// The outermost error that says how the child closed decides: what a child
	// reports may have been caused by any other inside it.
	for e := c.Err; e != nil; e = errors.Unwrap(e) {
		switch closed := any(e).(type) {
		case *temporal.ChildWorkflowExecutionAlreadyStartedError:
			return graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptIDTaken}
		case *temporal.ApplicationError:
			return c.reported(closed)
		case *temporal.CanceledError:
			return c.cancelled(closed)
		case *temporal.TerminatedError:
			return c.failed(graph.Failf(causeTerminated, "the workflow was terminated; what its nodes were doing is unknown"))
		case *temporal.TimeoutError:
			return c.timedOut(graph.Failf(graph.ErrTypeDeadlineExceeded, "a timeout set on the workflow itself ended it"))
		}
	}
	return graph.Ending{Kind: graph.Failed, Final: true, Failure: graph.Failf(graph.ErrTypeChildStartFailed,
		"the %s could not be started: %v", c.name(), c.Err)}
}

// UnknownGraph reports whether a child was refused because no worker has its graph
// any more.
func UnknownGraph(err error) bool {
	application := new(temporal.ApplicationError)
	var report graph.Report
	return errors.As(err, &application) && application.Type() == graph.ErrTypeUnknownGraph &&
		detail(application, &report) && report.Refused
}

func (c EndedChild) name() string {
	if c.Map {
		return "run of the map"
	}
	return fmt.Sprintf("graph %q", c.Graph)
}

func (c EndedChild) returned() graph.Ending {
	var result graph.ChildResult
	err := json.Unmarshal(c.Result, &result)
	if err == nil && len(result.Changed) == 0 {
		err = errors.New("it does not say what it changed")
	}
	var changed value.Object
	if err == nil {
		changed, err = value.ParseObject(canonical(result.Changed))
	}
	if err != nil { // a workflow of the worker's own has taken the graph's name
		return c.failed(graph.Failf(graph.ErrTypeInvalidOutput, "workflow type %q is not run as a graph: %v", c.Graph, err))
	}
	return graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: canonical(result.Output), Delta: changed}}
}

// reported reads the outcome document a run failed with.
func (c EndedChild) reported(e *temporal.ApplicationError) graph.Ending {
	var report graph.Report
	if !detail(e, &report) || report.Error == nil || report.Error.Type == "" {
		return c.failed(graph.Failf(e.Type(), "%s", e.Message()))
	}
	cause := report.Error
	for f := cause; f != nil; f = f.Cause {
		f.Details = canonical(f.Details)
	}
	switch {
	case report.Refused:
		return graph.Ending{Kind: graph.Failed, Final: true, Failure: &graph.Failure{
			Type: graph.ErrTypeChildStartFailed, Cause: cause,
			Message: fmt.Sprintf("the %s was refused: %s", c.name(), cause.Message),
		}}
	case report.Status == graph.StatusTimedOut:
		return c.timedOut(cause)
	default:
		return c.failed(cause)
	}
}

func (c EndedChild) failed(cause *graph.Failure) graph.Ending {
	if c.Map && cause.Type != causeTerminated {
		return graph.Ending{Kind: graph.Failed, Failure: cause}
	}
	return graph.Ending{Kind: graph.Failed, Failure: &graph.Failure{
		Type: graph.ErrTypeChildFailed, Cause: cause, Business: cause.Business,
		Message: fmt.Sprintf("the %s failed with %s: %s", c.name(), cause.Type, cause.Message),
	}}
}

// timedOut tells the limit of the node's attempt, which bounds the child too, from
// the child's own deadline.
func (c EndedChild) timedOut(cause *graph.Failure) graph.Ending {
	failure := cause
	if !c.Map && cause.Type != graph.ErrTypeActionTimedOut {
		failure = &graph.Failure{
			Type: graph.ErrTypeChildTimedOut, Cause: cause,
			Message: fmt.Sprintf("the %s ran out of time: %s", c.name(), cause.Message),
		}
	}
	return graph.Ending{Kind: graph.TimedOut, Failure: failure}
}

// cancelled reads the outcome document of a cancelled run. Cancelled from outside,
// it is not started again: somebody wanted it to stop.
func (c EndedChild) cancelled(e *temporal.CanceledError) graph.Ending {
	var report graph.Report
	cause, effect := graph.Failf(graph.ErrTypeCancelled, "the workflow was cancelled"), effectNone
	if began := new(temporal.ChildWorkflowExecutionError); errors.As(c.Err, &began) {
		effect = "unknown"
	}
	if detail(e, &report) && report.Error != nil {
		cause, effect = report.Error, effectNone
		if cause.Cause != nil {
			effect = cause.Cause.Effect
		}
	}
	if c.Asked {
		return graph.Ending{Kind: graph.Cancelled, Failure: &graph.Failure{
			Type: graph.ErrTypeCancelled, Message: "the " + c.name() + " was cancelled", Effect: effect,
		}}
	}
	return graph.Ending{Kind: graph.Failed, Final: true, Failure: &graph.Failure{
		Type: graph.ErrTypeChildCancelled, Cause: cause, Effect: effect,
		Message: "the " + c.name() + " was cancelled by somebody else than this run",
	}}
}
