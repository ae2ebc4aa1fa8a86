package tidemill

import (
	"context"
	"fmt"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// Picture is the graph of a run as Mermaid text with the run drawn in. It needs
// a worker.
func (c *Client) Picture(ctx context.Context, id string) (string, error) {
	var text string
	err := c.needAnswer(ctx, id, workflows.QueryGraph, &text)
	return text, err
}

// View is what a picture of a run is drawn from.
type View struct {
	Document *graph.Document
	Run      *graph.RunView
}

// View is the graph of a run and how far the run has come, for [graph.SVG],
// [graph.DOT] and [graph.Mermaid]. It needs a worker.
func (c *Client) View(ctx context.Context, id string) (View, error) {
	var v workflows.View
	if err := c.needAnswer(ctx, id, workflows.QueryView, &v); err != nil {
		return View{}, err
	}
	if v.Document == nil {
		return View{}, &RunError{Type: ErrTypeServer, ID: id, Message: fmt.Sprintf(
			"the answer to the query %s holds no document; the worker may be of another version", workflows.QueryView)}
	}
	return View{Document: v.Document, Run: v.Run}, nil
}
