package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// setHandlers registers what a run answers to, in a fixed order, before
// anything can block.
func (r *run) setHandlers(ctx workflow.Context) error {
	for _, q := range []struct {
		name, description string
		handler           any
	}{
		{QueryStatus, "The outcome document: status, output, state, error, pauses, waiting.", r.queryStatus},
		{QueryPauses, "The open pauses: what each asks, shows and accepts.", r.queryPauses},
		{QueryCheckpoint, "The whole state of the run.", r.queryCheckpoint},
		{QueryGraph, "The graph as Mermaid text with the run drawn in.", r.queryGraph},
		{QueryView, "The document and how far the run has come, to draw from.", r.queryView},
	} {
		options := workflow.QueryHandlerOptions{Description: q.description}
		if err := workflow.SetQueryHandlerWithOptions(ctx, q.name, q.handler, options); err != nil {
			return err
		}
	}
	workflow.GetSignalChannelWithOptions(ctx, SignalResume, workflow.SignalChannelOptions{
		Description: "Answers the only open pause with its payload. Signal resume:PAUSE_ID to address one of several.",
	})
	workflow.GetSignalChannelWithOptions(ctx, SignalChild, workflow.SignalChannelOptions{
		Description: "For runs only: what a child graph says of its pauses.",
	})
	workflow.GetSignalChannelWithOptions(ctx, SignalAnswer, workflow.SignalChannelOptions{
		Description: "For runs only: an answer from the run above.",
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, UpdateResume, r.resume, workflow.UpdateHandlerOptions{
		Validator:   r.checkResume,
		Description: "Answers a pause: {pause_id?, input, actor?, note?, digest?}. A refused answer leaves no trace.",
	})
}

func (r *run) queryStatus() (converter.RawValue, error) {
	if r.refused != nil {
		return activities.Plain(r.refused)
	}
	if r.machine == nil {
		return converter.RawValue{}, r.notBegun()
	}
	report := r.machine.Report()
	report.Waiting = append(report.Waiting, r.heldBack()...)
	return activities.Plain(report)
}

func (r *run) queryPauses() ([]graph.OpenPause, error) {
	if r.machine == nil {
		return nil, r.notBegun()
	}
	return r.machine.Overview().Pauses, nil
}

func (r *run) queryCheckpoint() (converter.RawValue, error) {
	if r.machine == nil {
		return converter.RawValue{}, r.notBegun()
	}
	return activities.Plain(r.machine.Checkpoint())
}

func (r *run) queryGraph() (string, error) {
	if r.machine == nil {
		return "", r.notBegun()
	}
	return graph.Mermaid(r.machine.Plan().Document, r.machine.View()), nil
}

// View is what a picture of a run is drawn from: the answer to [QueryView].
type View struct {
	Document *graph.Document `json:"document"`
	Run      *graph.RunView  `json:"run"`
}

// queryView leaves the drawing to who asks: the layout of a large graph takes
// longer than a workflow task may.
func (r *run) queryView() (converter.RawValue, error) {
	if r.machine == nil {
		return converter.RawValue{}, r.notBegun()
	}
	return activities.Plain(View{Document: r.machine.Plan().Document, Run: r.machine.View()})
}
