package tidemilltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// inbox is what people do to the run: they answer its pauses, and cancel it.
type inbox struct {
	w       *world
	letters []*letter // that were not sent yet, in order
	open    []string  // requests whose verdict is not known yet
	cancel  *time.Time
	asked   bool // cancel was asked for

	pauses   []Pause
	answered []Answered
	waits    map[string]int // place in answered of a request
}

// letter is an answer that will be sent.
type letter struct {
	Answer

	at   *time.Time // nil: its pause has not opened
	left int        // times
}

func newInbox(w *world) *inbox {
	b := &inbox{w: w, waits: map[string]int{}}
	for _, a := range w.scenario.Answers {
		l := &letter{Answer: a, left: max(a.Times, 1)}
		if a.At > 0 {
			at := w.began.Add(a.At)
			l.at = &at
		}
		b.letters = append(b.letters, l)
	}
	if c := w.scenario.Cancel; c.wanted() && c.When == "" {
		at := w.began.Add(c.At)
		b.cancel = &at
	}
	return b
}

// due tells of the next answer, and of the cancel.
func (b *inbox) due(next *moment) {
	b.look()
	if b.cancel != nil && !b.asked {
		next.sooner(*b.cancel, b.sendCancel)
	}
	for _, l := range b.letters {
		if l.at != nil {
			next.sooner(*l.at, func() { b.send(l) })
		}
	}
}

// look sees which pauses have opened and closed, what became of answers, and whether
// it is time to cancel.
func (b *inbox) look() {
	m := b.w.root.m
	for _, open := range m.Pauses() {
		if !slices.ContainsFunc(b.pauses, func(p Pause) bool { return p.ID == open.ID }) {
			b.pauses = append(b.pauses, Pause{OpenPause: open, At: b.w.since()})
			b.arm(open)
		}
	}
	b.open = slices.DeleteFunc(b.open, func(request string) bool {
		failure, done := m.Replied(request)
		if done {
			b.verdict(b.waits[request], failure)
		}
		return done
	})
	if c := b.w.scenario.Cancel; b.cancel == nil && c.When != "" && slices.Contains(b.w.path, graph.Address(long(c.When))) {
		at := b.w.now.Add(c.At)
		b.cancel = &at
	}
}

// arm has the answers to a pause that has just opened wait for their time.
func (b *inbox) arm(open graph.OpenPause) {
	unnamed := false // each pause takes one of the answers that name none
	for _, l := range b.letters {
		first := l.Pause == "" && !unnamed
		if l.at == nil && (first || l.Pause != "" && names(l.Pause, open)) {
			at := open.Opened.Add(l.After)
			l.at, unnamed = &at, unnamed || first
		}
	}
}

// names reports whether an address or an alias, in short or in full, is that of a pause.
func names(pause string, open graph.OpenPause) bool {
	return pause == string(open.ID) || pause == open.Alias || pause == short(string(open.ID)) || long(pause) == string(open.ID) ||
		open.Alias != "" && pause == short(open.Alias)
}

// send sends an answer once.
func (b *inbox) send(l *letter) {
	if l.left--; l.left == 0 {
		b.letters = slices.DeleteFunc(b.letters, func(other *letter) bool { return other == l })
	}
	request := fmt.Sprintf("answer-%d", len(b.answered)+1)
	at := len(b.answered)
	b.answered = append(b.answered, Answered{Pause: l.Pause, At: b.w.since()})
	b.waits[request] = at
	input, err := value.Marshal(l.Input)
	if err != nil {
		b.w.broken("the answer to %s is not JSON: %v", l.Pause, err)
		return
	}
	answer := graph.Answer{
		PauseID: b.id(l.Pause), Input: input, Actor: l.Actor, Note: l.Note, Via: "update", UpdateID: request, Request: request,
	}
	u := b.w.root
	u.event(fmt.Sprintf("answer %s %s", answer.PauseID, input), func() {
		if failure := u.m.Answer(b.w.now, answer); failure != nil {
			b.verdict(at, failure)
			return
		}
		b.open = append(b.open, request)
	})
}

// id is the pause that an answer is addressed to.
func (b *inbox) id(pause string) graph.Address {
	if pause == "" {
		return ""
	}
	for _, open := range b.w.root.m.Pauses() {
		if names(pause, open) {
			return open.ID
		}
	}
	for _, p := range slices.Backward(b.pauses) {
		if names(pause, p.OpenPause) {
			return p.ID
		}
	}
	return graph.Address(long(pause))
}

func (b *inbox) verdict(at int, failure *graph.Failure) {
	a := &b.answered[at]
	if a.Verdict = Accepted; failure != nil {
		a.Verdict, a.Message = failure.Type, failure.Message
	}
}

func (b *inbox) sendCancel() {
	b.asked = true
	reason := b.w.scenario.Cancel.Reason
	if reason == "" {
		reason = "cancelled by request"
	}
	u := b.w.root
	u.event("cancel: "+reason, func() { u.m.Cancel(b.w.now, reason) })
}

// closes says how each pause closed.
func (b *inbox) closes() []Pause {
	for i := range b.pauses {
		for _, record := range b.w.root.m.Checkpoint().Answers {
			if record.PauseID == b.pauses[i].ID {
				b.pauses[i].Closed = record.Closed
			}
		}
	}
	return b.pauses
}

// unsent says which answers nobody could be given.
func (b *inbox) unsent() []string {
	var left []string
	for _, l := range b.letters {
		if l.at == nil {
			left = append(left, fmt.Sprintf("the answer to %q was never sent: its pause did not open", l.Pause))
		} else {
			left = append(left, fmt.Sprintf("the answer to %q was never sent: the run stopped before its time", l.Pause))
		}
	}
	if c := b.w.scenario.Cancel; c.wanted() && !b.asked {
		left = append(left, "the run was not cancelled: its time did not come")
	}
	return left
}
