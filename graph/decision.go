package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// Question is one thing the machine cannot know by itself: the value of an
// expression, the answer of a callback, or whether a value fits a schema.
type Question struct {
	Kind  QuestionKind
	Node  *Node
	Scope Scope
	// Schema and Subject are set for AskSchema.
	Schema  json.RawMessage
	Subject json.RawMessage
}

// QuestionKind says which part of a node is asked for.
type QuestionKind string

// The questions.
const (
	AskRoute   QuestionKind = "route"    // Node.Next: To, or nothing when no case holds
	AskOnError QuestionKind = "on_error" // Node.OnError: To, or nothing when no case holds
	AskBranch  QuestionKind = "branch"   // Node.Cases and Default, or Choose: To
	AskWhile   QuestionKind = "while"    // Node.While or WhileCall: Holds
	AskValues  QuestionKind = "values"   // Node.Output and Delta: Output, Delta
	AskPause   QuestionKind = "pause"    // Node.Summary and Show: Summary, Show
	AskUntil   QuestionKind = "until"    // Node.Until: Output, RFC 3339 text
	AskRecover QuestionKind = "recover"  // OnError.Output and Delta of a branch: Output, Delta
	AskMerge   QuestionKind = "merge"    // Node.MergeCall over Subject: Delta
	AskInput   QuestionKind = "input"    // Node.Input of a child graph: Output, an object
	AskItems   QuestionKind = "items"    // Node.Items and Key of a map: Output, a list, and Keys
	AskSchema  QuestionKind = "schema"   // Subject against Schema: Failure or nothing
)

// Scope is what the names of an expression stand for. Absent values are null.
type Scope struct {
	State  value.Object
	Input  json.RawMessage
	Result json.RawMessage // AskValues
	Error  *Failure        // AskOnError, AskRecover
	Item   json.RawMessage // in a map's item; absent elsewhere
	Index  int             // of Item
	Run    RunFacts
}

// Decision answers a Question. It is recorded in history, so its JSON is
// stable and short.
type Decision struct {
	To      string          `json:"to,omitempty"`
	Holds   bool            `json:"holds,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"` // absent: the node has none
	Delta   value.Object    `json:"delta,omitempty"`
	Summary string          `json:"summary,omitempty"`
	Show    json.RawMessage `json:"show,omitempty"`
	Keys    []string        `json:"keys,omitempty"` // AskItems: a label per item, when the map has a key
	Failure *Failure        `json:"failure,omitempty"`
}

// UnmarshalJSON reads a decision as history holds it. What is written into a
// history may be escaped on its way; the values of a decision are canonical
// again afterwards.
func (d *Decision) UnmarshalJSON(data []byte) error {
	type plain Decision
	if err := json.Unmarshal(data, (*plain)(d)); err != nil {
		return err
	}
	return recanonicalize(&d.Output, &d.Show)
}

// Decider answers questions. It reports false when it has no answer for now;
// the machine then stops there and asks again at the next Advance.
type Decider interface {
	Decide(q Question) (Decision, bool)
}

// Undecided is the Decider without answers: advanced with it, a machine goes
// as far as static edges and literals lead.
type Undecided struct{}

// Decide has no answer.
func (Undecided) Decide(Question) (Decision, bool) { return Decision{}, false }

// The bounds of one batch of decisions.
const (
	MaxBatchDecisions = 250
	MaxBatchBytes     = 64 << 10
	MaxDecisionBytes  = 256 << 10 // of one decision, alone in its batch
)
