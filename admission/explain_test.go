package admission_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// The reason of a wait names the key that is in the way, with its numbers.
func TestExplain(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{
		Global: 9, Agents: agents("a", 2), Keys: keys("A=4"), Patience: 10 * time.Second, Recheck: 5 * time.Second,
		Rates: []admission.KeyRate{{Key: "R", Rate: admission.Rate{Limit: 2, Per: time.Minute}}},
	})
	d.ask(request("h/1", "a"), request("h/2", "a"), request("k", "A=2"))
	third := request("w/3", "a")
	third.Deadline = noon.Add(3 * time.Second)
	d.ask(request("w/1", "a"), request("w/2", "a"), third, request("wide", "A=3"), request("r", "rate:R=2"), request("r2", "rate:R=1"))

	x, ok := d.Explain(d.now, "w/2")
	require.True(t, ok)
	require.Equal(t, admission.Explanation{
		ID: "w/2", Answer: queued, Agent: "a", Reason: admission.ReasonLimit, Key: "agent:a",
		Used: 2, Limit: 2, Wants: 1, Place: 2, Since: noon, Next: noon.Add(5 * time.Second),
	}, x)
	x, _ = d.Explain(d.now, "w/3")
	require.Equal(t, 3, x.Place)
	require.Equal(t, third.Deadline, x.Next, "nothing is worth a look after the deadline")
	require.Equal(t, third.Deadline, x.Deadline)
	x, _ = d.Explain(d.now, "r2")
	require.Equal(t, admission.ReasonRate, x.Reason)
	require.Equal(t, noon.Add(30*time.Second), x.Next)

	d.pass(10 * time.Second)
	x, _ = d.Explain(d.now, "wide")
	require.Equal(t, []int{2, 3, 4, 3, 1, 1}, []int{x.Used, x.Reserved, x.Limit, x.Wants, x.Place, x.Claim})
	require.True(t, x.Keeps)
	d.ask(request("narrow", "A=1"))
	x, _ = d.Explain(d.now, "narrow")
	require.Equal(t, "limit A", string(x.Reason)+" "+x.Key, "the claim is head of the lane, and waits for room")
	require.Equal(t, 2, x.Place)

	x, _ = d.Explain(d.now, "h/1")
	require.Equal(t, admission.Explanation{
		ID: "h/1", Answer: admitted, Agent: "a", Since: noon, Token: d.told["h/1"].Token,
		Lease: noon.Add(time.Minute), Until: noon.Add(24 * time.Hour),
	}, x)
	d.free("h/1")
	x, ok = d.Explain(d.now, "h/1")
	require.True(t, ok)
	require.Equal(t, admission.AnswerReleased, x.Answer)
	_, ok = d.Explain(d.now, "nobody")
	require.False(t, ok)
}

// A claim goes first even past those who stand before it in the lane by their
// priority, and the places say so.
func TestPlaceBehindAClaim(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2"), Patience: time.Second})
	d.ask(request("h", "A=1"), request("claim", "A=2"))
	d.pass(time.Second)
	better := request("better", "A=2")
	better.Priority = new(100)
	d.ask(better, request("later", "A=2"))
	for id, place := range map[string]int{"claim": 1, "better": 2, "later": 3} {
		x, _ := d.Explain(d.now, id)
		require.Equal(t, place, x.Place, id)
	}
	require.Equal(t, []string{"claim"}, d.free("h"))
	require.Equal(t, []string{"better"}, d.free("claim"))
}

// With room for several, what each decision costs and says is bounded: nothing
// but the answer leaves the book.
func TestDecisionsName(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.submit(request("h", "A=1"), request("w", "A=1"))
	d.now = d.now.Add(time.Second)
	raw, err := json.Marshal(d.turn().Decisions)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"id": "h", "owner": {"workflow": "h", "first_run": "run"}, "answer": "granted", "token": 1,
		 "lease": "2030-01-02T12:01:01Z", "waited": 1000000000},
		{"id": "w", "owner": {"workflow": "w", "first_run": "run"}, "answer": "queued", "lease": "2030-01-02T12:01:00Z",
		 "waited": 1000000000, "reason": "limit", "key": "A", "next_check": "2030-01-02T12:00:06Z"}
	]`, string(raw))
}

// A clock that runs backwards is taken to stand still.
func TestTimeNeverRunsBack(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"))
	d.now = noon.Add(-time.Hour)
	d.free("h")
	require.Zero(t, d.told["h"].Waited)
	for _, odd := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		d.now = odd
		require.Equal(t, []admission.Answer{admitted}, d.ask(request(fmt.Sprint("x", odd.Year()), "A=1")))
		d.free(fmt.Sprint("x", odd.Year()))
	}
}
