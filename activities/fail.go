package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph"
)

// failArgs are the arguments of the action fail.
type failArgs struct {
	Type     string          `json:"type"`
	Message  string          `json:"message"`
	Business bool            `json:"business"`
	Details  json.RawMessage `json:"details"`
}

// fail is the action fail: it ends with the failure its arguments describe,
// which no retry changes.
//
// Repeats: it has no effect.
// Final errors: every one.
func fail(_ context.Context, args json.RawMessage) (Result, error) {
	var in failArgs
	if err := strict(args, &in); err != nil {
		return Result{}, NewError(graph.ErrTypeNodeInputSchema,
			fmt.Sprintf("action fail takes type, message, business and details: %v", err)).NotRetryable()
	}
	if in.Type == "" {
		return Result{}, NewError(graph.ErrTypeNodeInputSchema,
			"action fail needs a type: the word that on_error and callers match").NotRetryable()
	}
	e := NewError(in.Type, in.Message).NotRetryable()
	e.Business = in.Business
	if in.Details != nil {
		e.Details = in.Details
	}
	return Result{}, e
}

// strict decodes canonical JSON and refuses fields that v does not have.
func strict(raw json.RawMessage, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}
