package permits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// learned is a book of one permit, which an owner holds, and that another waits for.
func learned(t *testing.T) (book *admission.Book, holds, waits admission.Owner, token uint64) {
	t.Helper()
	book, err := admission.NewBook(admission.Limits{Global: 1, Overflow: admission.OverflowQueue, QueueTimeout: admission.None})
	require.NoError(t, err)
	holds, waits = admission.Owner{Workflow: "holds", FirstRun: "1"}, admission.Owner{Workflow: "waits", FirstRun: "2"}
	require.NoError(t, book.Submit(learnedAt, admission.Request{ID: "a", Owner: holds, Number: 1, Agent: "x"}))
	require.NoError(t, book.Submit(learnedAt, admission.Request{ID: "b", Owner: waits, Number: 1, Agent: "x"}))
	for _, d := range permits.Decide(book, learnedAt).Decisions {
		if d.ID == "a" {
			token = d.Token
		}
	}
	require.NotZero(t, token)
	return book, holds, waits, token
}

var learnedAt = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// What is found out about an owner is what its requests are kept or ended by, and an
// owner that waits for what was decided long ago would wait for ever if nobody told it.
func TestLearn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		life    permits.Life
		belief  *permits.Belief
		back    bool // the permit was given back before
		told    admission.Answer
		permits int
	}{
		"it has closed":                      {life: permits.LifeClosed, permits: 0},
		"it could not be asked":              {belief: &permits.Belief{Upto: 1}, permits: 1},
		"it said nothing":                    {life: permits.LifeOpen, permits: 1},
		"it holds what it holds":             {life: permits.LifeOpen, belief: &permits.Belief{Upto: 1, Held: []string{"a"}}, permits: 1},
		"it waits for what it was granted":   {life: permits.LifeOpen, belief: &permits.Belief{Upto: 1, Waited: []string{"a"}}, told: admission.AnswerGranted, permits: 1},
		"it waits for what was given back":   {life: permits.LifeOpen, belief: &permits.Belief{Upto: 1, Waited: []string{"a"}}, back: true, told: admission.AnswerReleased},
		"it has not heard that it gave back": {life: permits.LifeOpen, belief: &permits.Belief{Upto: 1, Held: []string{"a"}}, back: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book, holds, waits, token := learned(t)
			book.Gone(learnedAt, waits)
			if c.back {
				book.Release(learnedAt, "a", token)
			}
			permits.Decide(book, learnedAt)
			told := permits.Learn(book, learnedAt, []permits.Finding{{Owner: holds, Life: c.life, Belief: c.belief}})
			if c.told == "" {
				require.Empty(t, told)
			} else {
				require.Len(t, told, 1)
				require.Equal(t, c.told, told[0].Answer)
			}
			permits.Decide(book, learnedAt)
			require.Equal(t, c.permits, book.Status(learnedAt).Permits)
		})
	}
}

// A message that did not arrive is told as things stand when it is sent again: a grant
// of long ago may be somebody else's by then.
func TestMessagesOfToday(t *testing.T) {
	t.Parallel()
	book, holds, waits, token := learned(t)
	m := permits.Message{Owner: waits, Decisions: []admission.Decision{{ID: "b", Owner: waits, Answer: admission.AnswerQueued}}}
	require.Empty(t, m.Today(book, learnedAt), "it waits still")
	book.Release(learnedAt, "a", token)
	permits.Decide(book, learnedAt)
	require.Equal(t, admission.AnswerGranted, m.Today(book, learnedAt)[0].Answer)
	old := permits.Message{Owner: holds, Decisions: []admission.Decision{{ID: "a", Owner: holds, Answer: admission.AnswerGranted, Token: token}}}
	require.Empty(t, old.Today(book, learnedAt), "who gave it back knows")
}
