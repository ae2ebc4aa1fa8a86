package admission_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// busy is a book with something in every part of its state.
func busy(tb testing.TB) *desk {
	tb.Helper()
	d := setup(tb, admission.Limits{
		Version: 4, Global: 3, Agents: agents("a", 1), Keys: keys("A=4,B=1,gone=2"), Patience: time.Second, Lease: time.Hour,
		Rates: []admission.KeyRate{{Key: "R", Rate: admission.Rate{Limit: 2, Per: time.Minute}}, {Key: "old", Rate: admission.Rate{Limit: 1, Per: time.Minute}}},
		Flows: []admission.FlowWeight{{Flow: "f", Weight: 3}}, Queues: keys("A=9"), Order: []string{"A"},
	})
	process := request("p", "A=2,gone=1")
	process.Owner = admission.Owner{Process: "cron"}
	flow := request("run/claim", "A=3,rate:R=1")
	flow.Flow, flow.Priority, flow.Number = "f", new(80), 7
	asleep := request("run/asleep", "B=1")
	asleep.VisibleAt, asleep.Deadline = noon.Add(time.Hour), noon.Add(2*time.Hour)
	d.ask(request("h/1", "a"), request("h/2", "a"), process, nested("h/3", "A=2", "p"), flow, asleep, request("o", "rate:old=1"), request("o2", "rate:old=1"))
	d.Cancel(d.now, "unseen")
	d.pass(2 * time.Second)
	d.free("p")
	require.NoError(tb, d.SetLimit(d.now, "B", 5))
	require.NoError(tb, d.SetRate(d.now, "X", admission.Rate{Limit: 1, Per: time.Second}))
	l := d.Limits()
	l.Keys, l.Rates = keys("A=4,B=1"), l.Rates[:1]
	_, err := d.SetLimits(d.now, l)
	require.NoError(tb, err)
	d.Pause(d.now, "Q")
	d.turn()
	d.Confirm(d.now, admission.Confirmation{Owner: ownerOf("h/1"), Upto: 1})
	d.submit(request("fresh", "A=1"), request("h/1", "a"))
	return d
}

// The written state is the whole book, and written again it is the same.
func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	d := busy(t)
	s := d.State()
	require.NotEmpty(t, s.Flows)
	require.NotEmpty(t, s.Meters)
	require.NotEmpty(t, s.Lost)
	require.NotEmpty(t, s.Claims)
	require.NotEmpty(t, s.Endings)
	require.NotEmpty(t, s.Tombstones)
	require.NotEmpty(t, s.Again)
	again := reborn(t, d.Book)
	require.Equal(t, d.Decide(d.now), again.Decide(d.now))
	require.Equal(t, d.Status(d.now), again.Status(d.now))
	for range 20 {
		d.now = d.now.Add(17 * time.Minute)
		require.Equal(t, d.Decide(d.now), again.Decide(d.now))
	}
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	require.Equal(t, len(raw), s.Size())
}

// A state that contradicts itself is refused, and says where.
func TestStateIsChecked(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*admission.State){
		"version":                func(s *admission.State) { s.Version++ },
		"limits":                 func(s *admission.State) { s.Limits.Global = -1 },
		"overrides.limits":       func(s *admission.State) { s.Overrides.Limits = append(s.Overrides.Limits, s.Overrides.Limits...) },
		"overrides.rates[0].per": func(s *admission.State) { s.Overrides.Rates[0].Per = 0 },
		"paused":                 func(s *admission.State) { s.Paused = []string{"b", "a"} },
		"clock":                  func(s *admission.State) { s.Clock = -1 },
		"virtual":                func(s *admission.State) { s.Virtual = -1 },
		"flows[0].tag":           func(s *admission.State) { s.Flows[0].Tag = -1 },
		"flows[1].flow":          func(s *admission.State) { s.Flows = append(s.Flows[:1], s.Flows[0]) },
		"meters[0].tat":          func(s *admission.State) { s.Meters[0].TAT = math.MaxInt64 },
		"meters[0].step":         func(s *admission.State) { s.Meters[0].Step = -1 },
		"lost[0].limit":          func(s *admission.State) { s.Lost[0].Limit = -1 },
		"holds[0].token":         func(s *admission.State) { s.Holds[0].Token = 1 << 40 },
		"holds[0].keys":          func(s *admission.State) { s.Holds[1].Keys, s.Holds[0].Keys = nil, []admission.Units{{Key: "A"}} },
		"holds[9]":               func(s *admission.State) { s.Requests = s.Requests[1:] },
		"requests[0].id":         func(s *admission.State) { s.Requests[0].ID = "" },
		"requests[1].id":         func(s *admission.State) { s.Requests[1].ID = s.Requests[0].ID },
		"requests[0].owner":      func(s *admission.State) { s.Requests[0].Owner.Process = "x" },
		"requests[1].seq":        func(s *admission.State) { s.Requests[1].Seq = 0 },
		"requests[0]":            func(s *admission.State) { s.Requests[0].Lease = -1 },
		"requests[1].rank":       func(s *admission.State) { s.Requests[1].Rank = math.MaxInt64 },
		"requests[0].token":      func(s *admission.State) { s.Requests[0].Seated = true },
		"requests[2]":            func(s *admission.State) { s.Requests[2].Inherits = []uint64{1 << 50} },
		"claims[0].id":           func(s *admission.State) { s.Claims[0].ID = "h/1" },
		"claims[0].paid":         func(s *admission.State) { s.Claims[0].Paid = append(s.Claims[0].Paid, 1) },
		"endings[0].at":          func(s *admission.State) { s.Endings[0].At = 1 << 62 },
		"tombstones[0].until":    func(s *admission.State) { s.Tombstones[0].Until = -1 },
		"again[0]":               func(s *admission.State) { s.Again[0] = "nobody" },
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			s := busy(t).State()
			require.NoError(t, s.Validate())
			spoil(&s)
			_, err := admission.Restore(s)
			require.ErrorIs(t, err, admission.ErrInvalidState)
			if field != "holds[9]" {
				require.ErrorContains(t, err, ": "+field)
			}
		})
	}
	for _, text := range []string{"", "null x", "[]", `{"version": 1, "surprise": 1}`, `{"version": 2}`} {
		_, err := admission.ParseState([]byte(text))
		require.ErrorIs(t, err, admission.ErrInvalidState, text)
	}
}

// 12: a counter that went wrong is put right and reported, and what it held
// back is granted.
func TestRecountRepairs(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"))
	d.free("h")
	d.Miscount("A", 1)
	d.submit(request("w", "A=1"))
	require.Empty(t, granted(d.Decide(d.now)))
	require.Equal(t, []admission.Drift{{Counter: "used", Key: "A", Was: 1, Is: 0}}, d.Recount())
	require.Equal(t, []string{"w"}, granted(d.turn()))
}

// A state that grew too large is cut: memories first, then the newest in the
// queue; never a permit.
func TestShed(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=3"), MaxQueue: 1000})
	d.every = 1000
	for i := range 400 {
		d.ask(rejecting(request(fmt.Sprint("past", i), "none=1")))
		d.ask(request(fmt.Sprint("r", i), "A=1"))
	}
	whole := d.State().Size()
	require.Equal(t, whole, d.Shed(d.now, whole))
	require.Equal(t, 397, d.Status(d.now).Queued)

	most := 40_000
	require.LessOrEqual(t, d.Shed(d.now, most), most)
	d.turn()
	queue := d.Status(d.now).Queued
	require.Greater(t, queue, 50)
	require.Less(t, queue, 397)
	require.Equal(t, full, d.told["r399"].Answer)
	require.Equal(t, queued, d.told[fmt.Sprint("r", queue+2)].Answer, "the oldest stay")
	require.LessOrEqual(t, d.State().Size(), whole)

	require.Greater(t, d.Shed(d.now, 10), 10)
	require.Zero(t, d.Status(d.now).Queued)
	require.Equal(t, 3, d.Status(d.now).Permits)
}

// A turn grants at most so many, and the next goes on with the same order.
func TestGrantsPerTurn(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1300"), MaxQueue: 2000})
	for i := range 1500 {
		r := request(fmt.Sprint("r", i), "A=1")
		if i%100 == 99 {
			r = rejecting(r)
		}
		d.submit(r)
	}
	var ids []string
	for _, want := range []int{500, 500, 300} {
		turn := d.Decide(d.now)
		require.NoError(t, d.Check())
		d.Book = reborn(t, d.Book)
		got := granted(turn)
		require.Len(t, got, want)
		require.Equal(t, want == 500, turn.More)
		if turn.More {
			require.Len(t, turn.Decisions, want, "nobody is turned away while grants are left")
			require.Equal(t, d.now, turn.Next)
		} else {
			require.Len(t, turn.Decisions, want+200)
		}
		ids = append(ids, got...)
	}
	for i, id := range ids {
		require.Equal(t, fmt.Sprint("r", i), id)
	}
	require.Equal(t, 198, d.Status(d.now).Queued)
}

// What is idle is forgotten: thousands of keys and flows of the past leave
// nothing behind, but what a rate owes.
func TestIdleKeysAreForgotten(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{
		Keys: agents("p:*", 1), Lease: time.Minute,
		Rates: []admission.KeyRate{{Key: "r:*", Rate: admission.Rate{Limit: 1, Per: time.Hour}}},
	})
	d.every = 100
	d.ask(request("owed", "rate:r:owed=1"))
	d.free("owed")
	for i := range 1500 {
		r := request(fmt.Sprint("x", i), fmt.Sprintf("p:%d=1", i))
		r.Flow = fmt.Sprint("f", i)
		d.ask(r)
		d.free(r.ID)
		d.pass(time.Second)
	}
	require.Less(t, d.Known(), 1000)
	require.Equal(t, queued, d.ask(request("owed/2", "rate:r:owed=1"))[0])
	size := d.State().Size()
	require.Less(t, size, 100_000, "endings are forgotten after ten minutes")
}
