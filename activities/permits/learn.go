package permits

import (
	"slices"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// Learn tells a book what was found out about owners, and gives what they must be told
// again. Nothing follows from what could not be found out: the book asks once more after
// another lease.
func Learn(book *admission.Book, now time.Time, findings []Finding) (told []admission.Decision) {
	for _, f := range findings {
		switch f.Life {
		case LifeClosed:
			book.Gone(now, f.Owner)
		case LifeOpen:
			book.Alive(now, f.Owner)
			told = append(told, believes(book, now, f)...)
		case LifeUnknown:
		}
	}
	return told
}

// believes compares a book with what an owner believes. What the owner does not name any
// more ends after a grace. What it waits for although it was decided, or holds although
// it has ended, was lost on the way and is told again. A permit that was given back is
// news to those alone who wait for it: they would wait for ever.
func believes(book *admission.Book, now time.Time, f Finding) (told []admission.Decision) {
	if f.Belief == nil {
		return nil
	}
	book.Confirm(now, admission.Confirmation{
		Owner: f.Owner, Upto: f.Belief.Upto, IDs: slices.Concat(f.Belief.Held, f.Belief.Waited),
	})
	told = book.Recall(now, f.Owner, f.Belief.Waited)
	for _, d := range book.Recall(now, f.Owner, f.Belief.Held) {
		if d.Final() && d.Answer != admission.AnswerReleased {
			told = append(told, d)
		}
	}
	return told
}

// Today are the decisions of a message that did not arrive as they stand now: a permit
// may have another lease, or have ended. What the owner gave back itself is no news.
func (m *Message) Today(book *admission.Book, now time.Time) (list []admission.Decision) {
	ids := make([]string, len(m.Decisions))
	for i := range m.Decisions {
		ids[i] = m.Decisions[i].ID
	}
	for _, d := range book.Recall(now, m.Owner, ids) {
		if d.Answer != admission.AnswerReleased {
			list = append(list, d)
		}
	}
	return list
}
