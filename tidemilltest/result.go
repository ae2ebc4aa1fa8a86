package tidemilltest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// Result is all that happened in a run.
type Result struct {
	Status graph.Status    // paused when it waits for somebody who says nothing; running when nothing can happen any more
	Output json.RawMessage // canonical; null until completed
	State  json.RawMessage // canonical
	Error  *graph.Failure  // of a run that did not complete
	Path   []graph.Address // every visit, in the order in which they began, with those of children and items
	Calls  []Call          // every attempt of an action, an activity or a faked child, in order
	Pauses []Pause         // every pause that was opened, in order
	// Answers tell what became of the answers, one entry each time that one was sent:
	// accepted, or the error type of the refusal.
	Answers  []Answered
	Steps    int
	Duration time.Duration // virtual
	// Transcript is what the run was told and what it wanted, line by line.
	Transcript []string
	Checkpoint graph.Checkpoint // where the run stood in the end
}

// Call is one attempt of an action.
type Call struct {
	Name    string          `json:"name"` // of the action, the activity or the faked child graph
	Address graph.Address   `json:"address"`
	Attempt int             `json:"attempt"`         // from 1
	Key     string          `json:"key"`             // idempotency key: the same for every attempt of a visit
	Args    json.RawMessage `json:"args"`            // canonical; the input of a child graph
	Token   uint64          `json:"token,omitempty"` // of the permit
	At      time.Duration   `json:"at"`              // since the start of the run
	// Worked says that the action did its work. One that was interrupted before did not.
	Worked bool `json:"worked"`
}

// Pause is a pause that was opened.
type Pause struct {
	graph.OpenPause
	At     time.Duration     // since the start of the run
	Closed graph.PauseClosed // empty: it is still open
}

// Answered is what became of an answer that was sent.
type Answered struct {
	Pause   string        // as it was addressed
	At      time.Duration // since the start of the run
	Verdict string        // [Accepted], or the error type of the refusal
	Message string        // of the refusal
}

// Accepted is the verdict on an answer that was taken.
const Accepted = "accepted"

// CallsOf are the calls of an action, in order.
func (r *Result) CallsOf(name string) []Call {
	return slices.DeleteFunc(slices.Clone(r.Calls), func(c Call) bool { return c.Name != name })
}

// Own is the path of the graph itself, without what children and items did, and with
// "#1" left out: fetch, triage, fetch#2.
func (r *Result) Own() []string {
	var own []string
	for _, address := range r.Path {
		if !strings.Contains(string(address), "/") {
			own = append(own, short(string(address)))
		}
	}
	return own
}

// short is an address without its first epochs.
func short(address string) string {
	segments := strings.Split(address, "/")
	for i, s := range segments {
		segments[i] = strings.TrimSuffix(s, "#1")
		if node, attempt, again := strings.Cut(s, "#1~"); again {
			segments[i] = node + "~" + attempt
		}
	}
	return strings.Join(segments, "/")
}

// long is an address with the epochs that were left out. What reads as a number is an
// item.
func long(address string) string {
	if address == "" {
		return ""
	}
	segments := strings.Split(address, "/")
	for i, s := range segments {
		node, attempt, again := strings.Cut(s, "~")
		if strings.Contains(node, "#") || node == "" || node[0] >= '0' && node[0] <= '9' {
			continue
		}
		if segments[i] = node + "#1"; again {
			segments[i] += "~" + attempt
		}
	}
	return strings.Join(segments, "/")
}
