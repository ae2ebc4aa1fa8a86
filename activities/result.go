package activities

import (
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/schema"
	"github.com/tidemill/tidemill/graph/value"
)

// Result is what an action asks for, when an output alone does not say it. Make
// one with [Output], [OK], [Stop], [Route] or [Pause]; the zero Result is an
// output of null.
type Result struct {
	control graph.Control
	output  any
	full    any // what expressions see as result; output when nil
	delta   any
	target  string
	pause   graph.PauseRequest
}

// PauseRequest is what [Pause] shows to a person and accepts from them.
type PauseRequest = graph.PauseRequest

// Output commits v as the node's output and goes on.
func Output(v any) Result { return Result{output: v} }

// OK goes on without an output: the successor's input is null and the run's
// output stays what it was.
func OK() Result { return Result{control: graph.ControlOK} }

// Stop commits v as the run's output and ends the run.
func Stop(v any) Result { return Result{control: graph.ControlStop, output: v} }

// Route goes on at target, a node id or end, whatever the node's edge says.
func Route(target string) Result { return Result{control: graph.ControlRoute, target: target} }

// Pause waits for a person's answer, which becomes the successor's input. An
// empty reason is "pause".
func Pause(p PauseRequest) Result { return Result{control: graph.ControlPause, pause: p} }

// WithDelta adds a change of state: an object, or a Go value that JSON writes as
// one, of the top-level keys to replace.
func (r Result) WithDelta(delta any) Result {
	r.delta = delta
	return r
}

// The bounds of a pause.
const (
	maxSummary = 4096
	maxShow    = 2048
	anyPause   = "pause"
)

// evaluated is a Result in canonical JSON.
type evaluated struct {
	output, full json.RawMessage
	delta        value.Object
}

// encode writes the Go values of a result as JSON. The failure is final: the
// action would answer the same again.
func (r Result) encode() (evaluated, *graph.Failure) {
	var e evaluated
	var err error
	if e.output, err = value.Marshal(r.output); err != nil {
		return e, graph.Failf(graph.ErrTypeInvalidOutput, "the action's output is not JSON: %v", err)
	}
	e.full = e.output
	if r.full != nil {
		if e.full, err = value.Marshal(r.full); err != nil {
			return e, graph.Failf(graph.ErrTypeInvalidOutput, "the action's result is not JSON: %v", err)
		}
	}
	if r.delta == nil {
		return e, nil
	}
	raw, err := value.Marshal(r.delta)
	if err == nil {
		e.delta, err = value.ParseObject(raw)
	}
	if err != nil {
		return e, graph.Failf(graph.ErrTypeInvalidStateDelta, "the action's delta must be an object: %v", err)
	}
	return e, nil
}

// checkControl refuses a control that no run could follow, and brings a pause
// within its bounds.
func (r *Result) checkControl() *graph.Failure {
	switch r.control {
	case graph.ControlRoute:
		if r.target == "$"+graph.End {
			r.target = graph.End
		}
		if !graph.ValidID(r.target) {
			return graph.Failf(graph.ErrTypeInvalidControl,
				"route target %q is not a node id; give a node's id or end", r.target)
		}
	case graph.ControlPause:
		return r.checkPause()
	case graph.ControlOutput, graph.ControlOK, graph.ControlStop:
	}
	return nil
}

func (r *Result) checkPause() *graph.Failure {
	p := &r.pause
	if p.Reason == "" {
		p.Reason = anyPause
	}
	p.Summary = cut(p.Summary, maxSummary)
	if p.Expires < 0 && p.Expires != graph.None {
		return graph.Failf(graph.ErrTypeInvalidControl, "the pause's expires is negative")
	}
	if len(p.Show) > 0 {
		show, err := value.Canonical(p.Show)
		if err != nil {
			return graph.Failf(graph.ErrTypeInvalidControl, "the pause's show is not JSON: %v", err)
		}
		if len(show) > maxShow {
			return graph.Failf(graph.ErrTypeInvalidControl,
				"the pause's show has %d bytes; at most %d are shown", len(show), maxShow)
		}
		p.Show = show
	}
	return r.checkResumeSchema()
}

func (r *Result) checkResumeSchema() *graph.Failure {
	if len(r.pause.ResumeSchema) == 0 {
		return nil
	}
	canonical, err := value.Canonical(r.pause.ResumeSchema)
	if err != nil {
		return graph.Failf(graph.ErrTypeInvalidControl, "the pause's resume_schema is not JSON: %v", err)
	}
	if _, errs := schema.Compile(canonical); len(errs) > 0 {
		return graph.Failf(graph.ErrTypeInvalidControl, "the pause's resume_schema: %s: %s",
			fmt.Sprintf("%q", errs[0].Pointer), errs[0].Message)
	}
	r.pause.ResumeSchema = canonical
	return nil
}
