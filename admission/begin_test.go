package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// A book that follows a lost one must not give tokens that were given before, and a
// book that is carried over must go on where it was.
func TestBeginAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	book, err := admission.NewBook(admission.Limits{})
	require.NoError(t, err)
	book.BeginAfter(1_000)
	grant := func(book *admission.Book, id string) uint64 {
		require.NoError(t, book.Submit(now, admission.Request{ID: id, Owner: admission.Owner{Process: "p"}, Agent: "a"}))
		return book.Decide(now).Decisions[0].Token
	}
	require.EqualValues(t, 1_001, grant(book, "1"))
	require.EqualValues(t, 1, book.Grants())
	book.BeginAfter(5_000)
	require.EqualValues(t, 1_002, grant(book, "2"), "it has begun")
	again, err := admission.Restore(book.State())
	require.NoError(t, err)
	require.Equal(t, book.State(), again.State())
	require.EqualValues(t, 1_003, grant(again, "3"))
	require.EqualValues(t, 3, again.Grants())
	broken := book.State()
	broken.Base = broken.Token + 1
	require.ErrorIs(t, broken.Validate(), admission.ErrInvalidState)
}
