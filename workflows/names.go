package workflows

import "time"

// Names of a run's signals, updates and queries. Stable: histories and
// callers hold them.
const (
	// SignalResume answers the only open pause with its payload.
	SignalResume = "resume"
	// SignalResumePrefix, followed by a pause id, answers that pause.
	SignalResumePrefix = "resume:"
	// UpdateResume answers a pause: {pause_id?, input, actor?, note?, digest?}.
	UpdateResume = "resume"

	// SignalChild is what a child tells the run that started it: a
	// [graph.ChildReport]. SignalAnswer hands a child an answer to a pause in it: a
	// [graph.ForwardedAnswer]. Both are for runs only.
	SignalChild  = "tidemill.child"
	SignalAnswer = "tidemill.answer"

	QueryStatus     = "status"     // the outcome document
	QueryPauses     = "pauses"     // the open pauses
	QueryCheckpoint = "checkpoint" // the whole state of the run
	QueryGraph      = "graph"      // Mermaid text with the run drawn in
	QueryView       = "view"       // the document and how far the run has come, to draw from
)

// unlimited stands for a node's timeout of none: the server demands one.
const unlimited = 10 * 365 * 24 * time.Hour
