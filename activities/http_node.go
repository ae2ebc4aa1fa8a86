package activities

import (
	"encoding/json"
	"strings"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// nodeAnswer is what an endpoint answers with expect: node_result: at most one of
// output, stop, pause, route and error, and a delta beside it. A delta alone, or
// nothing, is ok.
type nodeAnswer struct {
	Output json.RawMessage `json:"output"`
	Stop   json.RawMessage `json:"stop"`
	Pause  *PauseRequest   `json:"pause"`
	Route  *string         `json:"route"`
	Error  *nodeError      `json:"error"`
	Delta  json.RawMessage `json:"delta"`
}

type nodeError struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// nodeResult reads what the endpoint wants the node to do.
func nodeResult(content json.RawMessage) (Result, error) {
	if value.KindOf(content) != value.KindObject {
		return Result{}, unexpected("a node_result is an object with at most one of %s, and delta", nodeChoices)
	}
	var answer nodeAnswer
	if err := strict(content, &answer); err != nil {
		return Result{}, unexpected("the response is no node_result: %v", err)
	}
	if len(answer.chosen()) > 1 {
		return Result{}, unexpected("the response has %s; give at most one of %s",
			strings.Join(answer.chosen(), " and "), nodeChoices)
	}
	if answer.Error != nil {
		return Result{}, answer.Error.err()
	}
	r := answer.result()
	if answer.Delta != nil {
		r = r.WithDelta(answer.Delta)
	}
	return r, nil
}

const nodeChoices = "output, stop, pause, route and error"

// chosen lists what the answer asks for. A null output is an output.
func (a nodeAnswer) chosen() []string {
	var given []string
	for _, c := range []struct {
		name  string
		given bool
	}{
		{"output", a.Output != nil},
		{"stop", a.Stop != nil},
		{"pause", a.Pause != nil},
		{"route", a.Route != nil},
		{"error", a.Error != nil},
	} {
		if c.given {
			given = append(given, c.name)
		}
	}
	return given
}

func (a nodeAnswer) result() Result {
	switch {
	case a.Output != nil:
		return Output(a.Output)
	case a.Stop != nil:
		return Stop(a.Stop)
	case a.Pause != nil:
		return Pause(*a.Pause)
	case a.Route != nil:
		return Route(*a.Route)
	default:
		return OK()
	}
}

// err is the failure the endpoint reports. It is final unless it says otherwise:
// the endpoint has done its work and knows.
func (e *nodeError) err() error {
	if e.Type == "" {
		return unexpected("the response's error has no type")
	}
	failure := NewError(e.Type, e.Message)
	if e.Type == graph.ErrTypeCancelled {
		failure.Type = graph.ErrTypeActionException
	}
	if !e.Retryable {
		return failure.NotRetryable()
	}
	return failure
}
