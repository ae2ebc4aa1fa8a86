package workflows

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// signalled reports whether a signal waits to be read.
func signalled(ctx workflow.Context) bool { return len(workflow.GetUnhandledSignalNames(ctx)) > 0 }

// hear takes what has happened and what was said since. What children report is
// applied before answers are judged: the pauses in them are answered here too.
func (r *run) hear(ctx workflow.Context) {
	if slices.Contains(workflow.GetUnhandledSignalNames(ctx), SignalChild) {
		r.empty(ctx, SignalChild)
		r.apply(ctx)
	}
	r.collect(ctx)
	r.apply(ctx)
}

// collect is the one reader of all signals. Each is judged against the pauses
// that are open when it is read, so an early answer is never kept; one that
// passes waits its turn among the events. Addressed answers go before plain
// ones.
func (r *run) collect(ctx workflow.Context) {
	names := workflow.GetUnhandledSignalNames(ctx) // in no order
	slices.SortFunc(names, func(a, b string) int {
		if addressed(a) != addressed(b) {
			if addressed(a) {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		r.empty(ctx, name)
	}
}

// empty takes all signals of a name.
func (r *run) empty(ctx workflow.Context, name string) {
	channel := workflow.GetSignalChannel(ctx, name)
	var payload converter.RawValue
	for channel.ReceiveAsync(&payload) {
		r.receive(ctx, name, payload.Payload())
	}
}

func addressed(name string) bool { return strings.HasPrefix(name, SignalResumePrefix) }

// receive takes one signal.
func (r *run) receive(ctx workflow.Context, name string, payload *commonpb.Payload) {
	now := workflow.Now(ctx)
	switch name {
	case SignalChild:
		r.receiveReport(ctx, payload.GetData())
		return
	case SignalAnswer:
		r.receiveForwarded(ctx, payload.GetData())
		return
	case permits.SignalPermits:
		r.receivePermits(ctx, payload)
		return
	}
	pauseID, _ := strings.CutPrefix(name, SignalResumePrefix)
	if name == SignalResume {
		pauseID = ""
	} else if !addressed(name) {
		r.machine.Reject(now, "signal", "", graph.Failf(graph.ErrTypeUnknownPause,
			"signal %q means nothing to a run; answer a pause with %s", name, SignalResume))
		return
	}
	answer := graph.Answer{PauseID: graph.Address(pauseID), Via: "signal"}
	var failure *graph.Failure
	if answer.Input, failure = jsonOf(payload); failure == nil && pauseID == "" {
		failure = refuseUpdateShape(answer.Input)
	}
	if failure == nil {
		failure = r.machine.Judge(answer)
	}
	if failure != nil {
		r.machine.Reject(now, answer.Via, pauseID, failure)
		return
	}
	r.push(func(now time.Time) {
		if failure := r.machine.Answer(now, answer); failure != nil {
			r.machine.Reject(now, answer.Via, pauseID, failure)
		}
	})
}

// jsonOf is the canonical JSON of a signal's payload; absent when there is
// none.
func jsonOf(payload *commonpb.Payload) (json.RawMessage, *graph.Failure) {
	switch string(payload.GetMetadata()[converter.MetadataEncoding]) {
	case converter.MetadataEncodingNil:
		return json.RawMessage("null"), nil
	case converter.MetadataEncodingJSON, converter.MetadataEncodingProtoJSON:
		return canonicalAnswer(payload.GetData())
	case "":
		return nil, nil
	default:
		return nil, graph.Failf(graph.ErrTypeInvalidResumeInput, "the payload is not JSON")
	}
}

func canonicalAnswer(raw json.RawMessage) (json.RawMessage, *graph.Failure) {
	canonical, err := value.Canonical(raw)
	if err != nil {
		return nil, graph.Failf(graph.ErrTypeInvalidResumeInput, "the answer is not JSON that can be kept: %v", err)
	}
	return canonical, nil
}

// refuseUpdateShape refuses a plain signal whose payload is meant for the
// update: taking the envelope for the answer would be a silent mistake.
func refuseUpdateShape(input json.RawMessage) *graph.Failure {
	object, err := value.ParseObject(input)
	if err != nil {
		return nil
	}
	_, hasPause := object.Get("pause_id")
	_, hasInput := object.Get("input")
	if !hasPause || !hasInput {
		return nil
	}
	for _, member := range object {
		if !slices.Contains([]string{"pause_id", "input", "actor", "note", "digest"}, member.Key) {
			return nil
		}
	}
	return graph.Failf(graph.ErrTypeInvalidResumeInput,
		"the payload has the shape of the update %s; send it as an update, or signal %sPAUSE_ID with the input alone",
		UpdateResume, SignalResumePrefix)
}
