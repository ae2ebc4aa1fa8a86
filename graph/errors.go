package graph

import (
	"encoding/json"
	"fmt"
)

// Error types of a run. Each is the type of a [Failure], and of the
// ApplicationError that a failed run closes with. Stable: histories hold them.
// docs/errors.md has one entry for each.
const (
	// Document and start.
	ErrTypeInvalidDocument   = "invalid_document"
	ErrTypeUnknownGraph      = "unknown_graph"
	ErrTypeInvalidRunOptions = "invalid_run_options"
	ErrTypeRetryPolicy       = "workflow_retry_policy"
	ErrTypeInputSchema       = "input_schema_validation_failed"
	ErrTypeOutputSchema      = "output_schema_validation_failed"
	ErrTypeNodeInputSchema   = "node_input_schema_validation_failed"
	ErrTypeNodeOutputSchema  = "node_output_schema_validation_failed"

	// Node.
	ErrTypeActionException     = "action_exception"
	ErrTypeActionTimedOut      = "action_timed_out"
	ErrTypeWorkerLost          = "worker_lost"
	ErrTypeNotRegistered       = "action_not_registered"
	ErrTypeRetryExhausted      = "retry_exhausted"
	ErrTypeExpressionFailed    = "expression_failed"
	ErrTypeInvalidActionResult = "invalid_action_result"
	ErrTypeInvalidOutput       = "invalid_output"
	ErrTypeInvalidStateDelta   = "invalid_state_delta"
	ErrTypeInvalidControl      = "invalid_control"
	ErrTypeOutputTooLarge      = "output_too_large"
	ErrTypeStateTooLarge       = "state_too_large"
	ErrTypeSecretNotAllowed    = "secret_not_allowed"
	ErrTypeNumberOutOfRange    = "number_out_of_range"
	ErrTypeHTTPHostRefused     = "http_host_refused"
	ErrTypeHTTPUnreachable     = "http_unreachable"
	// ErrTypeHTTPStatusPrefix begins the type of an HTTP status that is not a
	// success: http_404.
	ErrTypeHTTPStatusPrefix = "http_"

	// Flow.
	ErrTypeRouteFailed            = "route_failed"
	ErrTypeTargetNotAllowed       = "target_not_allowed"
	ErrTypeGraphLoopFailed        = "graph_loop_failed"
	ErrTypeForkBranchFailed       = "fork_branch_failed"
	ErrTypeForkJoinUnsatisfied    = "fork_join_unsatisfied"
	ErrTypeForkMergeFailed        = "fork_merge_failed"
	ErrTypeReducerConflict        = "state_reducer_conflict"
	ErrTypeReducerTypeMismatch    = "state_reducer_type_mismatch"
	ErrTypeReducerNumericOverflow = "state_reducer_numeric_overflow"
	ErrTypeMapItemsInvalid        = "map_items_invalid"
	ErrTypeMapTolerance           = "map_tolerance_exceeded"
	ErrTypeBudgetExhausted        = "budget_exhausted"
	ErrTypePauseExpired           = "pause_expired"
	ErrTypeDeadlineExceeded       = "deadline_exceeded"
	ErrTypeCancelled              = "cancelled"

	// Child. The child's own failure is the cause.
	ErrTypeChildFailed      = "nested_workflow_failed"
	ErrTypeChildTimedOut    = "nested_workflow_timed_out"
	ErrTypeChildCancelled   = "nested_workflow_cancelled"
	ErrTypeChildStartFailed = "nested_workflow_start_failed"

	// Admission: the answers of a book that end the wait for a permit, only where the
	// node or the run chose so. A failed classification ends none: the node waits.
	ErrTypeLimitReached         = "concurrency_limit_reached"
	ErrTypeQueueFull            = "admission_queue_full"
	ErrTypeQueueTimeout         = "queue_deadline_exceeded"
	ErrTypeDraining             = "draining"
	ErrTypeInfeasible           = "infeasible"
	ErrTypeWouldDeadlock        = "would_deadlock"
	ErrTypeOwnerGone            = "owner_gone"
	ErrTypeClassificationFailed = "classification_failed"

	// Answers to a pause.
	ErrTypeResumeInputRequired = "resume_input_required"
	ErrTypeInvalidResumeInput  = "invalid_resume_input"
	ErrTypeUnknownPause        = "unknown_pause"
	ErrTypePauseClosed         = "pause_closed"
	ErrTypePauseAmbiguous      = "pause_ambiguous"
	ErrTypePauseDigestMismatch = "pause_digest_mismatch"

	// Checkpoints.
	ErrTypeInvalidCheckpoint    = "invalid_checkpoint"
	ErrTypeCheckpointWorkflow   = "checkpoint_workflow_mismatch"
	ErrTypeCheckpointDefinition = "checkpoint_definition_mismatch"
	ErrTypeCheckpointComplete   = "checkpoint_complete"
)

// Failure says why something failed. It is data: it is committed to
// checkpoints, offered to conditions as error, and closes failed runs.
type Failure struct { //nolint:errname // a failure is data first: state, routes and histories hold it
	Type     string   `json:"type"`               // an error type above, or the author's own
	Message  string   `json:"message"`            // for people; never matched
	Node     string   `json:"node,omitempty"`     // id of the node that failed
	Address  Address  `json:"address,omitempty"`  // of the activation that failed
	Attempts int      `json:"attempts,omitempty"` // attempts made, when the node makes attempts
	Cause    *Failure `json:"cause,omitempty"`    // inside retry_exhausted and worker_lost
	// Effect is "unknown" when the node was cancelled and did not say whether
	// its effect happened.
	Effect string `json:"effect,omitempty"`
	// Business marks a failure the author declared as an expected outcome.
	Business bool `json:"business,omitempty"`
	// Details is JSON the action attached.
	Details json.RawMessage `json:"details,omitempty"`
}

// size is about how many bytes a failure takes, with all that caused it.
func (f *Failure) size() int {
	size := 0
	for ; f != nil; f = f.Cause {
		size += len(f.Type) + len(f.Message) + len(f.Node) + len(f.Address) + len(f.Details)
	}
	return size
}

// bare is a failure in short: what it is and where, without what caused it.
func (f *Failure) bare() *Failure {
	const most = 500 // bytes of the message
	return &Failure{
		Type: f.Type, Message: cutText(f.Message, most), Node: f.Node, Address: f.Address,
		Attempts: f.Attempts, Effect: f.Effect, Business: f.Business,
	}
}

// Error makes a Failure usable as a Go error.
func (f *Failure) Error() string {
	at := ""
	if f.Address != "" {
		at = " at " + string(f.Address)
	}
	return fmt.Sprintf("graph: %s%s: %s", f.Type, at, f.Message)
}

// Failf makes a Failure of a type with a formatted message.
func Failf(errorType, format string, args ...any) *Failure {
	return &Failure{Type: errorType, Message: fmt.Sprintf(format, args...)}
}
