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

	QueryStatus     = "status"     // the outcome document
	QueryPauses     = "pauses"     // the open pauses
	QueryCheckpoint = "checkpoint" // the whole state of the run
	QueryGraph      = "graph"      // Mermaid text with the run drawn in
	QueryView       = "view"       // the document and how far the run has come, to draw from
)

// Search attributes that runs write where the pin has them.
const (
	AttributeGraph   = "TidemillGraph"   // Keyword: the graph's id
	AttributeStatus  = "TidemillStatus"  // Keyword: running or paused
	AttributeWaiting = "TidemillWaiting" // KeywordList: ids of open pauses
	AttributeTrigger = "TidemillTrigger" // Keyword: the trigger that started the run
)

// unlimited stands for a node's timeout of none: the server demands one.
const unlimited = 10 * 365 * 24 * time.Hour
