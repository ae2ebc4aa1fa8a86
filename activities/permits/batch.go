package permits

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// ErrInvalidBatch is behind every error about the form of a [Batch]: nothing of it
// was carried out.
var ErrInvalidBatch = errors.New("permits: invalid batch")

// Check tells what is wrong with the form of a batch. A request that is wrong by
// itself is not: the others of the batch are not to blame for it.
func (b *Batch) Check() error {
	if n := len(b.Calls); n == 0 || n > MaxCalls {
		return fmt.Errorf("%w: it has %d calls; 1 to %d are taken", ErrInvalidBatch, n, MaxCalls)
	}
	for i := range b.Calls {
		if n := b.Calls[i].fields(); n != 1 {
			return fmt.Errorf("%w: call %d has %d fields; exactly one says what is asked", ErrInvalidBatch, i, n)
		}
	}
	if b.Limits != nil {
		if err := b.Limits.Validate(); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidBatch, err)
		}
	}
	return nil
}

func (c *Call) fields() (n int) {
	for _, set := range []bool{c.Submit != nil, c.Release != nil, c.Renew != nil, c.Cancel != "", c.Confirm != nil} {
		if set {
			n++
		}
	}
	return n
}

// Moves are what came of a turn of a book: of one batch, or of the clock alone.
type Moves struct {
	Decisions []admission.Decision // all, in the order they were made
	// Others are the decisions that their owners have yet to be told.
	Others []admission.Decision
	Ask    []admission.Owner // whose lease ran out
	Next   time.Time         // when there is more to do; zero: never
}

// Decide lets a book decide until it is done.
func Decide(book *admission.Book, now time.Time) Moves {
	var m Moves
	for more := true; more; {
		turn := book.Decide(now)
		m.Decisions = append(m.Decisions, turn.Decisions...)
		m.Ask = append(m.Ask, turn.Ask...)
		m.Next, more = turn.Next, turn.More
	}
	m.Others = heardOf(m.Decisions, nil)
	return m
}

// Carry carries a batch out as one turn of a book, and answers each call. The batch
// has passed [Batch.Check].
func (b *Batch) Carry(book *admission.Book, now time.Time) (BatchResult, Moves) {
	if b.Limits != nil {
		// Limits that another release finds invalid change nothing here.
		_, _ = book.SetLimits(now, *b.Limits)
	}
	answers := make([]CallAnswer, len(b.Calls))
	mine := map[string]bool{}
	for i := range b.Calls {
		answers[i] = b.Calls[i].apply(book, now, mine)
	}
	moves := Decide(book, now)
	latest := make(map[string]*admission.Decision, len(mine))
	for i := range moves.Decisions {
		if d := &moves.Decisions[i]; mine[d.ID] {
			latest[d.ID] = d
		}
	}
	for i := range b.Calls {
		if submit := b.Calls[i].Submit; submit != nil && answers[i].Refused == "" {
			answers[i].Decision = latest[submit.ID]
		}
	}
	moves.Others = heardOf(moves.Decisions, mine)
	_, waiting := book.Load()
	return BatchResult{Answers: answers, Waiting: waiting}, moves
}

// apply hands one call to the book. The ids that the sender hears of by its answers
// are added to mine.
func (c *Call) apply(book *admission.Book, now time.Time, mine map[string]bool) CallAnswer {
	switch {
	case c.Submit != nil:
		if err := book.Submit(now, *c.Submit); err != nil {
			return CallAnswer{Refused: err.Error(), Foreign: errors.Is(err, admission.ErrForeignRequest)}
		}
		mine[c.Submit.ID] = true
	case c.Release != nil:
		return CallAnswer{Result: book.Release(now, c.Release.ID, c.Release.Token)}
	case c.Renew != nil:
		return CallAnswer{Result: book.Renew(now, c.Renew.ID, c.Renew.Token)}
	case len(c.Cancel) > admission.MaxIDBytes: // no request can have such an id
		return CallAnswer{Result: admission.ResultNotFound}
	case c.Cancel != "":
		mine[c.Cancel] = true
		return CallAnswer{Result: book.Cancel(now, c.Cancel)}
	case c.Confirm != nil:
		book.Confirm(now, *c.Confirm)
	}
	return CallAnswer{}
}

// heardOf are the decisions that must be brought to their owners: not those that an
// answer of the batch tells, what a release of the owner did, or that a workflow has
// closed. A process asks by itself.
func heardOf(decisions []admission.Decision, mine map[string]bool) []admission.Decision {
	var others []admission.Decision
	for _, d := range decisions {
		told := mine[d.ID] || d.Answer == admission.AnswerReleased || d.Answer == admission.AnswerOwnerGone
		if !told && d.Owner.Workflow != "" {
			others = append(others, d)
		}
	}
	return others
}

// Address puts decisions behind the messages that their owners get already, or adds
// messages, in the order of the decisions.
func Address(messages []Message, decisions ...admission.Decision) []Message {
	at := make(map[admission.Owner]int, len(messages))
	for i, m := range messages {
		at[m.Owner] = i
	}
	for _, d := range decisions {
		i, found := at[d.Owner]
		if !found {
			i = len(messages)
			at[d.Owner] = i
			messages = append(messages, Message{Owner: d.Owner})
		}
		messages[i].Decisions = append(messages[i].Decisions, d)
	}
	return messages
}
