package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// CarryVersion is the version of [Carry] that this code writes.
const CarryVersion = 1

// ErrNewer is returned for what a worker of a later release has written and this one
// cannot follow. It is no failure of the run: a worker of that release takes it up.
var ErrNewer = errors.New("activities: written by a later release")

// Carry is the fourth argument of a run that continues an earlier one of its chain:
// all that the earlier one knew and the server does not. A reader passes over fields
// that it does not know; what it must not pass over raises Version. Stable: histories
// hold it.
type Carry struct {
	Version int       `json:"version"`
	From    string    `json:"from"`    // the run that left it
	Runs    int       `json:"runs"`    // of the chain, before the one that reads it
	Started time.Time `json:"started"` // when the first of them began

	Checkpoint graph.Checkpoint `json:"checkpoint"`
	// Documents are the graph, and every graph that it names: a chain is bound to them,
	// and no worker may have them any more.
	Documents []*graph.Document `json:"documents"`

	Requests int            `json:"requests,omitempty"` // answers that were given a name
	Shown    CarriedShown   `json:"shown"`
	Parent   *CarriedParent `json:"parent,omitempty"` // of a run that still has one to tell
}

// CarriedShown is what the search attributes of the chain say.
type CarriedShown struct {
	Status  graph.Status `json:"status"`
	Waiting []string     `json:"waiting,omitempty"`
}

// CarriedParent is what the parent has been told.
type CarriedParent struct {
	Sequence int             `json:"sequence,omitempty"` // reports so far
	Paused   bool            `json:"paused,omitempty"`
	Told     []graph.Address `json:"told,omitempty"`    // pauses that it knows of
	Replied  []graph.Reply   `json:"replied,omitempty"` // to answers that it handed over, the last ones
}

// ParseCarry reads what an earlier run of a chain left; nil when there is nothing. The
// error is [ErrNewer], or says what no run would leave.
func ParseCarry(raw json.RawMessage) (*Carry, error) {
	if len(raw) == 0 || value.KindOf(raw) == value.KindNull {
		return nil, nil //nolint:nilnil // nothing was left, which is no error
	}
	var wrote struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &wrote); err != nil {
		return nil, err
	}
	if wrote.Version > CarryVersion {
		return nil, fmt.Errorf("%w: version %d, and this one reads up to %d", ErrNewer, wrote.Version, CarryVersion)
	}
	var text struct {
		Carry
		Checkpoint json.RawMessage `json:"checkpoint"`
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	var failure *graph.Failure
	if text.Carry.Checkpoint, failure = graph.ParseCheckpoint(text.Checkpoint); failure != nil {
		return nil, failure
	}
	return &text.Carry, text.check()
}

// check refuses what no run would leave.
func (c *Carry) check() error {
	switch {
	case c.Version < 1 || c.From == "" || c.Runs < 1 || c.Started.IsZero():
		return errors.New("activities: version, from, runs and started must be given")
	case len(c.Documents) == 0:
		return errors.New("activities: documents must be given")
	}
	for _, document := range c.Documents {
		if document == nil {
			return errors.New("activities: documents holds null")
		}
	}
	return nil
}

// carried is what the earlier run left for this one; nil for a run that begins by
// itself. Any other may have had its arguments from a run before: a cron schedule
// starts each run with those of the last.
func carried(in PinInput) (*Carry, error) {
	carry, err := ParseCarry(in.Carry)
	if err != nil || carry == nil || carry.From != in.Continues {
		return nil, err
	}
	return carry, nil
}
