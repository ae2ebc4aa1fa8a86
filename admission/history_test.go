package admission_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

var operations = flag.Int("operations", 20_000, "random calls over which the book is compared with the oracle")

var spoils = flag.Int("spoils", 500, "states in which something is changed that are tried")

const callsPerHistory = 250

// history drives a book and the oracle through the same random calls.
type history struct {
	*rand.Rand
	book  *admission.Book
	world *world
	now   time.Time
	ids   []string
	last  admission.Turn

	lowered map[string]bool // keys whose limit was lowered below what is in use
	plant   func(*admission.Book, string)
	rush    int  // most requests of one call
	metered bool // the crowd waits for rates
	crowd   bool // many flows, few keys, and nothing but requests, releases and turns
	calls   int
	grants  int
}

func newHistory(seed uint64) *history {
	h := &history{Rand: rand.New(rand.NewPCG(seed, 0)), now: noon, lowered: map[string]bool{}}
	h.rush = pick(h, 1, 2, 5)
	h.crowd, h.metered = seed%2 == 1, seed%4 == 1
	l := h.drawLimits()
	book, err := admission.NewBook(l)
	if err != nil {
		panic(err)
	}
	h.book, h.world = book, newWorld(l)
	for _, k := range []string{"R", "S"} {
		h.world.keepStep(k)
	}
	return h
}

func pick[T any](h *history, list ...T) T { return list[h.IntN(len(list))] }

func (h *history) drawLimits() admission.Limits {
	l := admission.Limits{
		Global: 2 + h.IntN(4), DefaultAgent: 1 + h.IntN(2), Agents: []admission.KeyLimit{{Key: "b", Limit: 2}},
		Keys: []admission.KeyLimit{{Key: "A", Limit: 2 + h.IntN(3)}, {Key: "B", Limit: 1 + h.IntN(4)}, {Key: "C", Limit: h.IntN(3)}, {Key: "p:*", Limit: 1 + h.IntN(2)}},
		Rates: []admission.KeyRate{
			{Key: "R", Rate: h.drawRate()},
			{Key: "S", Rate: admission.Rate{Limit: 1, Per: time.Duration(1+h.IntN(9)) * time.Second, Burst: 2}},
		},
		MaxQueue: pick(h, 3, 12, 40), Queues: []admission.KeyLimit{{Key: "A", Limit: 4 + h.IntN(9)}},
		Flows: []admission.FlowWeight{{Flow: "g", Weight: 3}, {Flow: "h", Weight: 7}}, FlowShare: 25,
		Overflow: pick(h, admission.OverflowReject, admission.OverflowQueue), QueueTimeout: time.Duration(20+h.IntN(60)) * time.Second,
		Boost: time.Minute, Patience: time.Duration(1+h.IntN(12)) * time.Second, Lease: time.Duration(10+h.IntN(30)) * time.Second,
		MaxHold: pick(h, admission.None, 90*time.Second), Recheck: time.Second,
	}
	if h.crowd {
		l.Rates[0].Rate = admission.Rate{Limit: 1 + h.IntN(5), Per: time.Second, Burst: 3 + h.IntN(3)}
		l.Queues, l.MaxQueue, l.FlowShare, l.QueueTimeout, l.Lease = nil, 60, 100, time.Hour, time.Hour
		for i := range 8 {
			l.Flows = append(l.Flows, admission.FlowWeight{Flow: fmt.Sprint("crowd", i), Weight: 1 + h.IntN(9)})
		}
	}
	return l
}

func (h *history) drawRate() admission.Rate {
	return admission.Rate{Limit: h.IntN(4), Per: pick(h, time.Second, 3*time.Second, 10*time.Second), Burst: h.IntN(5)}
}

func (h *history) owner() admission.Owner {
	if n := h.IntN(7); n > 0 {
		return admission.Owner{Workflow: fmt.Sprint("w", n), FirstRun: "r"}
	}
	return admission.Owner{Process: "p"}
}

func (h *history) id() string {
	if len(h.ids) == 0 {
		return "none"
	}
	return h.ids[max(0, len(h.ids)-1-h.IntN(25))]
}

// drawCrowd makes a request of a crowd: a key or two, of one of many flows.
func (h *history) drawCrowd() admission.Request {
	what := pick(h, "A=1", "A=1", "A=2", "B=1", "A=1,B=1")
	if h.metered {
		what = pick(h, "rate:R=1", "rate:R=2", "rate:R=3", "rate:R=1,rate:S=2", "A=1,rate:R=1")
	}
	r := request(fmt.Sprint("q", len(h.ids)), what)
	r.Owner, r.Flow = h.owner(), fmt.Sprint("crowd", h.IntN(8))
	return r
}

func (h *history) drawRequest() admission.Request {
	if h.crowd {
		return h.drawCrowd()
	}
	r := admission.Request{
		ID: fmt.Sprint("q", len(h.ids)), Owner: h.owner(), Number: uint64(h.IntN(4)),
		Flow: pick(h, "", "", "f", "g", "h"), Overflow: pick(h, "", admission.OverflowQueue, admission.OverflowQueue),
	}
	switch h.IntN(4) {
	case 0, 1:
		r.Agent = pick(h, "a", "a", "b", "c")
	case 2:
		r.Keys = append(r.Keys, admission.Units{Key: pick(h, "A", "p:x", "p:y"), Units: h.IntN(3)})
	}
	if r.Agent == "" && len(r.Keys) == 0 || h.IntN(3) == 0 {
		r.Keys = append(r.Keys, admission.Units{Key: pick(h, "B", "B", "C", "z"), Units: h.IntN(4)})
	}
	if h.IntN(3) == 0 {
		r.Rates = append(r.Rates, admission.Units{Key: pick(h, "R", "S"), Units: h.IntN(3)})
	}
	if h.IntN(3) == 0 {
		r.Priority = new(h.IntN(101))
	}
	if h.IntN(8) == 0 {
		r.VisibleAt = h.now.Add(time.Duration(h.IntN(20000)) * time.Millisecond)
	}
	if h.IntN(8) == 0 {
		r.Arrival = h.now.Add(time.Duration(5-h.IntN(60)) * time.Second)
	}
	switch h.IntN(6) {
	case 0:
		r.Deadline = h.now.Add(time.Duration(h.IntN(20)-1) * time.Second)
	case 1:
		r.QueueTimeout = admission.None
	}
	if h.IntN(6) == 0 {
		r.Parent = h.id()
	}
	if h.IntN(10) == 0 {
		r.Within = []string{h.id()}
	}
	return r
}

// step makes one call on both sides.
func (h *history) step(t require.TestingT) {
	h.calls++
	n := h.now.UnixNano()
	k := h.IntN(100)
	if h.crowd {
		k = pick(h, 0, 38, 38, 99)
	}
	switch {
	case k < 36:
		h.submit(t)
		for range h.IntN(h.rush) {
			h.calls++
			h.submit(t)
		}
	case k < 38 && len(h.ids) > 0:
		h.again(t)
	case k < 55:
		h.release(t)
	case k < 59:
		h.cancel(t, h.id())
	case k < 62:
		h.confirm()
	case k < 64:
		o := h.owner()
		require.Equal(t, h.count(o), h.book.Gone(h.now, o))
		h.world.gone(n, o)
		h.tamper("gone")
	case k < 66:
		o := h.owner()
		h.book.Alive(h.now, o)
		h.world.alive(n, o)
	case k < 71:
		h.control(t)
	case k < 73 && h.plant == nil:
		h.book = reborn(t, h.book)
	default:
		h.now = h.now.Add(h.pace())
		h.decide(t)
	}
}

func (h *history) submit(t require.TestingT) {
	r := h.drawRequest()
	h.ids = append(h.ids, r.ID)
	if h.IntN(30) == 0 {
		h.cancel(t, r.ID) // before it comes
	}
	for range 1 + max(0, h.IntN(12)-10) {
		require.NoError(t, h.book.Submit(h.now, r))
		h.world.submit(h.now.UnixNano(), r)
	}
	h.tamper("submit")
}

// pace is how far time moves before a turn; often to the very moment that the
// last turn named.
func (h *history) pace() time.Duration {
	if h.crowd {
		return time.Duration(h.IntN(400)) * time.Millisecond
	}
	switch h.IntN(6) {
	case 0:
		return 0
	case 1, 2:
		if next := h.last.Next; !next.IsZero() && next.After(h.now) && next.Sub(h.now) < 30*time.Second {
			return next.Sub(h.now)
		}
		return time.Duration(h.IntN(3000)) * time.Millisecond
	case 3:
		return time.Duration(h.IntN(12)) * time.Second
	default:
		return time.Duration(h.IntN(1500)) * time.Millisecond
	}
}

func (h *history) again(t require.TestingT) {
	id := h.id()
	r := admission.Request{ID: id, Owner: h.owner(), Agent: "a", Overflow: admission.OverflowQueue}
	if a := h.world.find(id); a != nil {
		r.Owner = a.Owner
	}
	require.NoError(t, h.book.Submit(h.now, r))
	h.world.submit(h.now.UnixNano(), r)
}

// release gives back a permit, now and then with a token that is not its own.
func (h *history) release(t require.TestingT) {
	var held []*ask
	for _, a := range h.world.live {
		if a.token > 0 {
			held = append(held, a)
		}
	}
	if len(held) == 0 {
		return
	}
	a := pick(h, held...)
	token := a.token
	if h.IntN(15) == 0 {
		token--
	}
	require.Equal(t, h.world.release(h.now.UnixNano(), a.ID, token), h.book.Release(h.now, a.ID, token))
	h.tamper("release")
}

func (h *history) cancel(t require.TestingT, id string) {
	require.Equal(t, h.world.cancel(h.now.UnixNano(), id), h.book.Cancel(h.now, id))
	h.tamper("cancel")
}

func (h *history) count(o admission.Owner) (n int) {
	for _, a := range h.world.live {
		if a.Owner == o {
			n++
		}
	}
	return n
}

func (h *history) confirm() {
	c := admission.Confirmation{Owner: h.owner(), Upto: uint64(h.IntN(4))}
	for _, a := range h.world.live {
		if a.Owner == c.Owner && h.IntN(4) > 0 {
			c.IDs = append(c.IDs, a.ID)
		}
	}
	h.book.Confirm(h.now, c)
	h.world.confirm(h.now.UnixNano(), c)
}

// control changes limits, rates and pauses live.
func (h *history) control(t require.TestingT) {
	n, w := h.now.UnixNano(), h.world
	key := pick(h, "global", "agent:a", "A", "B", "C", "p:*", "p:x")
	switch h.IntN(12) {
	case 0, 1, 2:
		limit := h.IntN(7) - 1
		require.NoError(t, h.book.SetLimit(h.now, key, limit))
		w.change(n, func() {
			w.over.Limits = slices.DeleteFunc(w.over.Limits, func(k admission.KeyLimit) bool { return k.Key == key })
			if limit >= 0 {
				w.over.Limits = append(w.over.Limits, admission.KeyLimit{Key: key, Limit: limit})
			}
		})
		h.tamper("limit")
	case 3, 4:
		rate := h.drawRate()
		require.NoError(t, h.book.SetRate(h.now, "R", rate))
		w.change(n, func() { w.over.Rates = []admission.KeyRate{{Key: "R", Rate: rate}} })
	case 5, 6:
		key = pick(h, key, "R", "S", "")
		h.book.Pause(h.now, key)
		w.change(n, func() { w.paused[key] = true })
	case 7, 8, 9:
		for _, key := range []string{"global", "agent:a", "A", "B", "C", "p:x", "R", "S", ""} {
			h.book.Resume(h.now, key)
			w.change(n, func() { delete(w.paused, key) })
		}
		w.drain = false
		h.tamper("resume")
	case 10:
		if h.IntN(4) == 0 {
			h.book.Drain(h.now)
			w.drained(n)
		}
	case 11:
		l := h.drawLimits()
		l.Keys = l.Keys[h.IntN(2):]
		l.Rates = l.Rates[h.IntN(2):]
		taken, err := h.book.SetLimits(h.now, l)
		require.NoError(t, err)
		require.True(t, taken)
		w.change(n, func() { w.limits = l })
	}
}

// reborn is the book that its written state makes.
func reborn(t require.TestingT, b *admission.Book) *admission.Book {
	raw, err := json.Marshal(b.State())
	require.NoError(t, err)
	state, err := admission.ParseState(raw)
	require.NoError(t, err)
	again, err := admission.Restore(state)
	require.NoError(t, err)
	twice, err := json.Marshal(again.State())
	require.NoError(t, err)
	require.Equal(t, string(raw), string(twice))
	return again
}

func (h *history) tamper(after string) {
	if h.plant != nil {
		h.plant(h.book, after)
	}
}

// decide has both sides take a turn, and compares what they say.
func (h *history) decide(t require.TestingT) {
	h.tamper("before")
	turn := h.book.Decide(h.now)
	h.tamper("decide")
	h.last = turn
	h.world.turn(h.now.UnixNano())
	var grants, answers []string
	for _, d := range turn.Decisions {
		if d.Answer == admission.AnswerGranted && !d.Repeated {
			grants = append(grants, fmt.Sprintf("%s %d", d.ID, d.Token))
		} else {
			answers = append(answers, fmt.Sprintf("%s %s %v", d.ID, d.Answer, d.Repeated))
		}
	}
	slices.Sort(answers)
	slices.Sort(h.world.answers)
	require.Equal(t, strings.Join(h.world.grants, ", "), strings.Join(grants, ", "))
	require.Equal(t, strings.Join(h.world.answers, ", "), strings.Join(answers, ", "))
	h.grants += len(grants)
	h.world.grants, h.world.answers = nil, nil
	if h.plant == nil {
		h.invariants(t)
	}
}

// invariants hold after every turn.
func (h *history) invariants(t require.TestingT) {
	require.Empty(t, h.book.Recount())
	require.NoError(t, h.book.Check())
	require.Empty(t, h.world.eligible(), "an eligible head is left")
	s := h.book.Status(h.now)
	for _, k := range slices.Concat(s.Agents, s.Keys) {
		name := k.Name
		if len(name) == 1 && name >= "a" {
			name = "agent:" + name
		}
		require.Equal(t, h.world.used(name), k.Active, name)
		h.within(t, name, k.Active, k.Limit)
	}
	h.within(t, "global", s.Active, s.GlobalLimit)
	if h.IntN(20) == 0 {
		h.quietUntilNext(t)
	}
}

// within holds used below the limit, except for what was in use when a limit
// was lowered; that may only shrink.
func (h *history) within(t require.TestingT, key string, used, limit int) {
	if used <= limit {
		delete(h.lowered, key)
		return
	}
	l, known := h.world.limit(key)
	require.True(t, !known || used > l)
	for _, g := range h.world.grips {
		if g.keys[key] > 0 {
			require.LessOrEqual(t, g.token, h.world.tokens)
		}
	}
}

// quietUntilNext tries the moment before the time that the turn named: nothing
// may be due earlier.
func (h *history) quietUntilNext(t require.TestingT) {
	if !h.last.Next.After(h.now) {
		return
	}
	other := reborn(t, h.book)
	early := other.Decide(h.last.Next.Add(-1))
	require.Empty(t, early.Decisions)
	require.Empty(t, early.Ask)
}

// verdict is the first thing that a history finds wrong.
type verdict struct{ found string }

func (v *verdict) Errorf(format string, args ...any) { v.found = fmt.Sprintf(format, args...) }

func (v *verdict) FailNow() { panic(v) }

// run makes the calls of a history, and gives the first thing that is wrong;
// empty if nothing is.
func (h *history) run(calls int) (found string) {
	v := &verdict{}
	defer func() {
		if r := recover(); r != nil && r != any(v) {
			found = fmt.Sprint("panic: ", r)
		} else {
			found = v.found
		}
	}()
	for range calls {
		h.step(v)
	}
	return ""
}

// The book gives the grants, in order and with tokens, and the answers that a
// slow restatement of the rules gives, over every kind of call, and across any
// number of rebirths from its written state.
func TestBookAgainstOracle(t *testing.T) {
	t.Parallel()
	calls, grants := 0, 0
	for seed := uint64(0); calls < *operations; seed++ {
		h := newHistory(seed)
		found := h.run(callsPerHistory)
		require.Empty(t, found, "history %d, call %d", seed, h.calls)
		calls += h.calls
		grants += h.grants
	}
	t.Logf("%d calls, %d grants", calls, grants)
	require.Greater(t, grants, calls/10, "the histories must grant")
}
