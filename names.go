package tidemill

import (
	"context"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// DefaultTaskQueue is the task queue of workers and starts that name none.
const DefaultTaskQueue = "tidemill"

// What actions and callbacks are written with.
type (
	// Result is what an action asks for when an output alone does not say it.
	Result = activities.Result
	// PauseRequest is what [Pause] shows to a person and accepts from them.
	PauseRequest = activities.PauseRequest
	// Error is how an action says precisely what went wrong; see [NewError].
	Error = activities.Error
	// Scope is what a callback sees of its run.
	Scope = activities.Scope
	// RunFacts are the facts of a run that an action sees; see [Info].
	RunFacts = graph.RunFacts
)

// What runs are described with.
type (
	// OpenPause is a pause that waits for an answer.
	OpenPause = graph.OpenPause
	// Lane is whose run it is.
	Lane = graph.Lane
	// Limits are the sizes a run is bound to.
	Limits = graph.Limits
	// HTTPOptions say what the action http may reach.
	HTTPOptions = activities.HTTPOptions
	// Secrets are the values that secret('NAME') stands for.
	Secrets = activities.Secrets
	// Status is how a run stands or ended.
	Status = graph.Status
)

// What admission is configured with; see [AdmissionOptions].
type (
	// AdmissionLimits bound what runs at a time, and how fast, in one domain.
	AdmissionLimits = admission.Limits
	// AdmissionRules say what attempts need.
	AdmissionRules = permits.Rules
	// AdmissionRule says what the attempts need for which it holds.
	AdmissionRule = permits.Rule
	// AdmissionPartition makes of facts about a run one of a few names.
	AdmissionPartition = permits.Partition
	// AdmissionUnits is an amount of one key.
	AdmissionUnits = admission.Units
	// Classifier says in Go what an attempt needs.
	Classifier = permits.Classifier
	// Facts are what a classification may go by.
	Facts = permits.Facts
	// Class is what an attempt needs.
	Class = permits.Class
	// Admitter is asked for permits and given them back.
	Admitter = permits.Admitter
)

// The statuses of a run.
const (
	StatusRunning   = graph.StatusRunning
	StatusPaused    = graph.StatusPaused
	StatusCompleted = graph.StatusCompleted
	StatusFailed    = graph.StatusFailed
	StatusTimedOut  = graph.StatusTimedOut
	StatusCancelled = graph.StatusCancelled
)

// Output commits v as the node's output and goes on; the same as returning v.
func Output(v any) Result { return activities.Output(v) }

// OK goes on without an output: the successor's input is null.
func OK() Result { return activities.OK() }

// Stop commits v as the run's output and ends the run.
func Stop(v any) Result { return activities.Stop(v) }

// Route goes on at target, a node id or end, whatever the node's edge says.
func Route(target string) Result { return activities.Route(target) }

// Pause waits for a person's answer, which becomes the successor's input.
func Pause(p PauseRequest) Result { return activities.Pause(p) }

// NewError makes a retryable [Error] of the author's own type.
func NewError(errorType, message string) *Error { return activities.NewError(errorType, message) }

// Cancelled is what an action returns when it was told to stop and knows
// whether its effect happened.
func Cancelled(effect string) error { return activities.Cancelled(effect) }

// Info is the facts of the run as the action of ctx sees them. Its Key is the
// same for every attempt of one visit of the node. Outside an action it is the
// zero value.
func Info(ctx context.Context) RunFacts { return activities.Info(ctx) }

// Heartbeat leaves details for the next attempt, should this one be lost.
func Heartbeat(ctx context.Context, details any) error { return activities.Heartbeat(ctx, details) }

// HeartbeatDetails decodes the last details that an earlier attempt left into
// v. It reports whether there were any.
func HeartbeatDetails(ctx context.Context, v any) (bool, error) {
	return activities.HeartbeatDetails(ctx, v)
}

// EnvSecrets are the environment variables of the given names and no others.
func EnvSecrets(names ...string) Secrets { return activities.EnvSecrets(names...) }

// ResumeCommand is the exact `temporal` command that answers a pause; the
// answer stands in it as an example.
func ResumeCommand(p OpenPause) string { return workflows.ResumeCommand(p) }
