package permits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func bookOf(t *testing.T, limits admission.Limits) *admission.Book {
	t.Helper()
	book, err := admission.NewBook(limits)
	require.NoError(t, err)
	return book
}

func ownerOf(name string) admission.Owner {
	return admission.Owner{Workflow: name, FirstRun: "run"}
}

func submit(owner, id string) permits.Call {
	return permits.Call{Submit: &admission.Request{
		ID: id, Owner: ownerOf(owner), Keys: []admission.Units{{Key: "A"}}, Overflow: admission.OverflowQueue, QueueTimeout: admission.None,
	}}
}

func release(id string, token uint64) permits.Call {
	return permits.Call{Release: &permits.Named{ID: id, Token: token}}
}

// carry carries a batch out and gives the answers in short, and what is left to tell.
func carry(book *admission.Book, calls ...permits.Call) (answers, others []string) {
	batch := permits.Batch{Calls: calls}
	result, moves := batch.Carry(book, noon)
	for _, a := range result.Answers {
		text := string(a.Result)
		if a.Decision != nil {
			text = string(a.Decision.Answer)
		}
		if a.Refused != "" {
			text = "refused"
		}
		answers = append(answers, text)
	}
	for _, d := range moves.Others {
		others = append(others, d.ID+" "+string(d.Answer))
	}
	return answers, others
}

var oneA = admission.Limits{Keys: []admission.KeyLimit{{Key: "A", Limit: 1}}}

// What a batch asks is answered in the batch; what it does to others must be brought
// to them, and what an owner did itself to nobody.
func TestCarry(t *testing.T) {
	t.Parallel()
	book := bookOf(t, oneA)
	answers, others := carry(book, submit("x", "x/1"), submit("y", "y/1"), submit("z", "z/1"), submit("x", ""))
	require.Equal(t, []string{"granted", "queued", "queued", "refused"}, answers)
	require.Empty(t, others)

	answers, others = carry(book, submit("z", "z/1"), release("x/1", 1))
	require.Equal(t, []string{"queued", "released"}, answers)
	require.Equal(t, []string{"y/1 granted"}, others)

	answers, others = carry(book, permits.Call{Cancel: "y/1"}, permits.Call{Cancel: "nobody"}, submit("z", "z/1"))
	require.Equal(t, []string{"released", "not_found", "granted"}, answers, "asked again in the turn that grants it")
	require.Empty(t, others)

	answers, others = carry(book, submit("w", "w/1"), permits.Call{Cancel: "w/1"}, submit("q", "z/1"))
	require.Equal(t, []string{"cancelled", "cancelled", "refused"}, answers)
	require.Empty(t, others)

	answers, _ = carry(book, permits.Call{Renew: &permits.Named{ID: "z/1", Token: 9}}, permits.Call{Renew: &permits.Named{ID: "z/1", Token: 3}})
	require.Equal(t, []string{"stale", "ok"}, answers)
}

// The room of a release is used in its own batch, whichever came first: a batch is
// one turn.
func TestCarryIsOneTurn(t *testing.T) {
	t.Parallel()
	book := bookOf(t, oneA)
	carry(book, submit("x", "x/1"))
	answers, others := carry(book, submit("y", "y/1"), release("x/1", 1))
	require.Equal(t, []string{"granted", "released"}, answers)
	require.Empty(t, others)
}

// A process is not brought anything: it has no place to be told.
func TestCarryLeavesProcessesAlone(t *testing.T) {
	t.Parallel()
	book := bookOf(t, oneA)
	waits := submit("", "p/1")
	waits.Submit.Owner = admission.Owner{Process: "p"}
	carry(book, submit("x", "x/1"), waits)
	_, others := carry(book, release("x/1", 1))
	require.Empty(t, others)
	require.EqualValues(t, 2, book.Grants())
}

// The sender's configuration is in force before its first call, unless it is older.
func TestCarryTakesLimitsFirst(t *testing.T) {
	t.Parallel()
	book := bookOf(t, admission.Limits{Version: 2})
	batch := permits.Batch{Calls: []permits.Call{submit("x", "x/1")}, Limits: &admission.Limits{Version: 3, Keys: oneA.Keys}}
	result, _ := batch.Carry(book, noon)
	require.Equal(t, admission.AnswerGranted, result.Answers[0].Decision.Answer)
	batch = permits.Batch{Calls: []permits.Call{submit("y", "y/1")}, Limits: &admission.Limits{Version: 1}}
	result, _ = batch.Carry(book, noon)
	require.Equal(t, admission.AnswerQueued, result.Answers[0].Decision.Answer)
}

// More grants than a turn of the book makes are still one answer.
func TestDecideUntilDone(t *testing.T) {
	t.Parallel()
	most := admission.Limits{Keys: []admission.KeyLimit{{Key: "A", Limit: 2_000}}, MaxQueue: 2_000}
	book := bookOf(t, most)
	book.Pause(noon, "")
	calls := []permits.Call{}
	for i := range 1_200 {
		calls = append(calls, submit("x", string(rune('a'+i%26))+string(rune('a'+i/26))))
	}
	carry(book, calls...)
	book.Resume(noon, "")
	require.Len(t, permits.Decide(book, noon).Others, 1_200)
}

// A tombstone for an id that nobody can have would be kept for nothing.
func TestCancelOfWhatCannotBe(t *testing.T) {
	t.Parallel()
	book := bookOf(t, oneA)
	answers, _ := carry(book, permits.Call{Cancel: string(make([]byte, admission.MaxIDBytes+1))})
	require.Equal(t, []string{"not_found"}, answers)
	require.Empty(t, book.State().Tombstones)
}

// What is malformed is refused as a whole, and says where.
func TestBatchCheck(t *testing.T) {
	t.Parallel()
	good := submit("x", "x/1")
	both := good
	both.Cancel = "x/1"
	for name, row := range map[string]struct {
		batch permits.Batch
		fault string
	}{
		"empty":  {permits.Batch{}, "it has 0 calls; 1 to 200 are taken"},
		"many":   {permits.Batch{Calls: make([]permits.Call, 201)}, "it has 201 calls"},
		"none":   {permits.Batch{Calls: []permits.Call{good, {}}}, "call 1 has 0 fields"},
		"both":   {permits.Batch{Calls: []permits.Call{both}}, "call 0 has 2 fields"},
		"limits": {permits.Batch{Calls: []permits.Call{good}, Limits: &admission.Limits{Global: -9}}, "global"},
		"good":   {permits.Batch{Calls: []permits.Call{good}, Limits: &oneA}, ""},
	} {
		err := row.batch.Check()
		if row.fault == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, permits.ErrInvalidBatch, name)
		require.ErrorContains(t, err, row.fault, name)
	}
}

// Decisions of one owner go together, in their order, and owners in the order in
// which they were first decided about.
func TestAddress(t *testing.T) {
	t.Parallel()
	of := func(owner, id string) admission.Decision { return admission.Decision{ID: id, Owner: ownerOf(owner)} }
	messages := permits.Address(nil, of("x", "1"), of("y", "2"), of("x", "3"))
	messages = permits.Address(messages, of("y", "4"), of("z", "5"))
	require.Equal(t, []permits.Message{
		{Owner: ownerOf("x"), Decisions: []admission.Decision{of("x", "1"), of("x", "3")}},
		{Owner: ownerOf("y"), Decisions: []admission.Decision{of("y", "2"), of("y", "4")}},
		{Owner: ownerOf("z"), Decisions: []admission.Decision{of("z", "5")}},
	}, messages)
}
