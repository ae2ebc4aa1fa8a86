package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// noon is when every test begins.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// desk is a book in a test: calls fail the test on an error, and time moves by
// hand.
type desk struct {
	*admission.Book
	t    testing.TB
	now  time.Time
	told map[string]admission.Decision // latest of each request

	turns int
	every int // turns between two checks of the book's structure
}

func setup(tb testing.TB, l admission.Limits) *desk {
	tb.Helper()
	book, err := admission.NewBook(l)
	require.NoError(tb, err)
	return &desk{Book: book, t: tb, now: noon, told: map[string]admission.Decision{}, every: 1}
}

// ownerOf is the owner of a request of the tests: by the text before the slash,
// a workflow.
func ownerOf(id string) admission.Owner {
	name, _, _ := strings.Cut(id, "/")
	return admission.Owner{Workflow: name, FirstRun: "run"}
}

// request is one that queues without a deadline: `agent` or `key=units,…`.
func request(id, what string) admission.Request {
	r := admission.Request{ID: id, Owner: ownerOf(id), Overflow: admission.OverflowQueue, QueueTimeout: admission.None}
	if !strings.Contains(what, "=") {
		r.Agent = what
		return r
	}
	for part := range strings.SplitSeq(what, ",") {
		key, n, _ := strings.Cut(part, "=")
		u := admission.Units{Key: key}
		_, err := fmt.Sscan(n, &u.Units)
		if err != nil {
			panic(err)
		}
		if rate, ok := strings.CutPrefix(key, "rate:"); ok {
			u.Key = rate
			r.Rates = append(r.Rates, u)
		} else {
			r.Keys = append(r.Keys, u)
		}
	}
	return r
}

// submit hands in requests without a turn.
func (d *desk) submit(list ...admission.Request) {
	d.t.Helper()
	for _, r := range list {
		require.NoError(d.t, d.Submit(d.now, r))
	}
}

// turn lets the book decide, until it is done.
func (d *desk) turn() admission.Turn {
	d.t.Helper()
	var all admission.Turn
	for more := true; more; {
		turn := d.Decide(d.now)
		all.Decisions = append(all.Decisions, turn.Decisions...)
		all.Ask = append(all.Ask, turn.Ask...)
		all.Next, more = turn.Next, turn.More
	}
	for _, decision := range all.Decisions {
		d.told[decision.ID] = decision
	}
	if d.turns++; d.turns%d.every == 0 {
		require.NoError(d.t, d.Check())
		require.Empty(d.t, d.Recount())
	}
	return all
}

// ask hands in requests, one turn for each, and gives the answers.
func (d *desk) ask(list ...admission.Request) (answers []admission.Answer) {
	d.t.Helper()
	for _, r := range list {
		d.submit(r)
		d.turn()
		answers = append(answers, d.told[r.ID].Answer)
	}
	return answers
}

// free releases permits, and gives the ids that this lets in, in order.
func (d *desk) free(ids ...string) []string {
	d.t.Helper()
	for _, id := range ids {
		require.Equal(d.t, admission.ResultReleased, d.Release(d.now, id, d.told[id].Token), id)
	}
	return granted(d.turn())
}

// pass lets time go by, and gives the ids that this lets in.
func (d *desk) pass(by time.Duration) []string {
	d.t.Helper()
	d.now = d.now.Add(by)
	return granted(d.turn())
}

func granted(turn admission.Turn) (ids []string) {
	for _, d := range turn.Decisions {
		if d.Answer == admission.AnswerGranted {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// why tells the reason and key of a wait.
func (d *desk) why(id string) string {
	d.t.Helper()
	x, ok := d.Explain(d.now, id)
	require.True(d.t, ok, id)
	return strings.TrimSpace(string(x.Reason) + " " + x.Key)
}

// active are the units in use on a key or agent.
func (d *desk) active(key string) int {
	s := d.Status(d.now)
	if key == admission.KeyGlobal {
		return s.Active
	}
	for _, k := range append(s.Agents, s.Keys...) {
		if k.Name == key {
			return k.Active
		}
	}
	return 0
}

func agents(name string, limit int) []admission.KeyLimit {
	return []admission.KeyLimit{{Key: name, Limit: limit}}
}

// keys makes limits of `A=4,B=2`.
func keys(text string) (list []admission.KeyLimit) {
	for _, u := range request("x", text).Keys {
		list = append(list, admission.KeyLimit{Key: u.Key, Limit: u.Units})
	}
	return list
}
