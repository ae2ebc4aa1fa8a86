package graph

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidemill/tidemill/graph/value"
)

// The sizes of what a pause shows, in bytes.
const (
	MaxSummary = 4 << 10
	MaxShow    = 2 << 10
)

// Pause is an open question to a person. Its id is the address of the
// activation that asks, so it is never used twice.
type Pause struct {
	ID           Address         `json:"pause_id"`
	Reason       string          `json:"reason"`
	Summary      string          `json:"summary,omitempty"`
	Show         json.RawMessage `json:"show,omitempty"`
	ResumeSchema json.RawMessage `json:"resume_schema,omitempty"`
	Opened       time.Time       `json:"opened"`
	Expires      *time.Time      `json:"expires,omitempty"`
	// Digest is the hex SHA-256 of the canonical {pause_id, reason, show,
	// summary}: an answer that carries it cannot answer something else.
	Digest string `json:"digest"`
}

// digest is the Digest of what the pause shows.
func (p *Pause) digest() string {
	raw, err := value.Marshal(struct {
		ID      Address         `json:"pause_id"`
		Reason  string          `json:"reason"`
		Summary string          `json:"summary"`
		Show    json.RawMessage `json:"show"`
	}{p.ID, p.Reason, p.Summary, orNull(p.Show)})
	if err != nil {
		return ""
	}
	return value.Digest(raw)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// OpenPause is a pause, the workflow that holds it, and what it may be called
// beside its id.
type OpenPause struct {
	Pause
	WorkflowID string `json:"workflow_id"`
	// Alias is the id with the key of a map's item in place of its number. It is
	// understood while no other open pause has it.
	Alias string `json:"alias,omitempty"`
}

// Pauses are the open pauses of the run and of everything below it, in the order
// of the activations they belong to.
func (m *Machine) Pauses() []OpenPause {
	var open []OpenPause
	if m.cp.Stopping != nil {
		return nil
	}
	for i := range m.cp.Activations {
		a := &m.cp.Activations[i]
		first := len(open)
		switch {
		case a.Phase == PhasePaused || a.Phase == PhaseAnswered:
			open = append(open, OpenPause{Pause: *a.Pause, WorkflowID: m.facts.ID})
		case a.Child != nil:
			open = append(open, a.Child.Pauses...)
		}
		m.alias(a, open[first:])
	}
	return open
}

// alias names the pauses of an item by its key.
func (m *Machine) alias(a *Activation, open []OpenPause) {
	if a.Map == "" || len(open) == 0 {
		return
	}
	mapping := m.find(a.Map).Mapping
	key := mapping.Items[a.Index].Key
	if key == "" || mapping.numbers(key) {
		return
	}
	for i := range open {
		rest := open[i].Alias
		if rest == "" {
			rest = string(open[i].ID)
		}
		if len(rest) >= len(a.Address) {
			open[i].Alias = string(mapping.base(a.Index)) + "/" + key + rest[len(a.Address):]
		}
	}
}

// numbers reports whether a key reads as the number of an item. It is no name then:
// once that item is answered, its answer sent again would go to another one.
func (mp *Mapping) numbers(key string) bool {
	first, _, _ := strings.Cut(key, "/")
	s, err := parseSegment(first)
	return err == nil && s.Node == "" && s.Item < len(mp.Items)
}

// openPauseNode opens the pause of a pause node, or goes on with its answer
// when there is one.
func (m *Machine) openPauseNode(now time.Time, node *Node, a *Activation, decider Decider) bool {
	if a.Answer != nil {
		answer := a.Answer.Input
		if !m.finish(a, decider, answer, answer) {
			return false
		}
		if a.Phase != PhaseFailed { // a redrive must know that it has been answered
			a.Answer = nil
		}
		return true
	}
	request := PauseRequest{
		Reason: node.Reason, Show: node.Show, ResumeSchema: node.ResumeSchema, Expires: node.Expires,
	}
	if literal(node.Summary) && literal(node.Show) && len(node.Show) <= MaxShow {
		if node.Summary != nil && json.Unmarshal(node.Summary, &request.Summary) != nil {
			request.Summary = string(node.Summary)
		}
	} else {
		d, ok := m.ask(a, decider, Question{Kind: AskPause, Scope: Scope{Input: a.Input}})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, d.Failure)
			return true
		}
		request.Summary, request.Show = d.Summary, d.Show
	}
	m.openPause(now, a, &request)
	return true
}

// openPause opens a pause for an activation.
func (m *Machine) openPause(now time.Time, a *Activation, r *PauseRequest) {
	p := &Pause{
		ID: a.Address, Reason: r.Reason, Summary: cutText(r.Summary, MaxSummary), Show: r.Show,
		ResumeSchema: r.ResumeSchema, Opened: now,
	}
	if p.Reason == "" {
		p.Reason = "pause"
	}
	p.Digest = p.digest()
	a.Phase, a.Pause = PhasePaused, p
	m.mark(a, NodePaused)
	if r.Expires.Std() > 0 {
		at := now.Add(r.Expires.Std())
		p.Expires = &at
		m.sleep(a, PhasePaused, at)
	}
}

// cutText shortens text to at most limit bytes, at a character.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// expire closes a pause that nobody answered in time. Silence is an outcome of
// its own, never an answer.
func (m *Machine) expire(now time.Time, a *Activation) {
	m.recordAnswer(AnswerRecord{PauseID: a.Pause.ID, Closed: ClosedExpired, At: now})
	node := m.plan.Node(a.Node)
	a.closePause()
	if node.Type == TypePause && node.OnExpire != "" {
		m.mark(a, NodeCompleted)
		m.follow(a, node.OnExpire, a.Input)
		return
	}
	m.fail(a, Failf(ErrTypePauseExpired, "nobody answered the pause in time"))
}

// closePause drops what was asked, unless a redrive may have to ask it again.
func (a *Activation) closePause() {
	a.Offered = nil
	if !a.Asked {
		a.Pause = nil
	}
}

// maxListed is how many names a message lists. There may be hundreds, and a run may
// have as many refusals to tell at once.
const maxListed = 10

// listed writes the first names for a message.
func listed[T ~string](all []T) string {
	var names []string
	for _, name := range all[:min(len(all), maxListed)] {
		names = append(names, string(name))
	}
	line := strings.Join(names, ", ")
	if more := len(all) - maxListed; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// openIDs lists the open pauses for a message.
func openIDs(open []OpenPause) string {
	if len(open) == 0 {
		return "no pause is open"
	}
	ids := make([]Address, len(open))
	for i := range open {
		ids[i] = open[i].ID
	}
	return "open: " + listed(ids)
}
