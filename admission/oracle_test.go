package admission_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// The oracle says the rules of admission again, slowly: nothing is counted,
// kept in order or remembered that can be found by looking through everything.
// It shares no code with the book beyond the types of its questions.

// world is the oracle's state.
type world struct {
	limits admission.Limits // all fields set
	over   admission.Overrides
	paused map[string]bool // "" pauses everything
	drain  bool

	now     int64
	tokens  uint64
	submits uint64
	virtual int64
	tags    map[string]int64          // per flow
	claimed map[string]int64          // per flow: last grant of a claim
	tat     map[string]int64          // per rate
	step    map[string]int64          // per rate: of its last rate that was not 0
	last    map[string]admission.Rate // per rate: as it was known last

	live     []*ask
	grips    []*grip
	claims   []*ask
	standing []*ask // the claims that stand, as the latest turn settled it

	cancelled map[string]int64 // id: refused until
	ended     []ended
	answers   []string // what the next turn says besides grants
	grants    []string
	unheard   []*ask // asked since the last turn
	repeats   []*ask
}

type ended struct {
	id     string
	answer admission.Answer
	at     int64
}

// grip is what one permit took: in use while anybody who leans on it lives.
type grip struct {
	token uint64
	keys  map[string]int
}

// ask is one request.
type ask struct {
	admission.Request
	seq      uint64
	lane     string         // as laneOf found it
	keys     map[string]int // concurrency keys that it takes itself
	rates    map[string]int
	leans    []*grip
	at, from int64 // submit, and begin of the wait
	order    int64 // arrival less boost
	deadline int64 // 0: none
	overflow admission.Overflow
	waits    bool // it has a place in the queue
	over     bool

	armed bool
	ready int64
	paid  map[string]int64

	token             uint64
	lease, end, doubt int64
}

const second = int64(time.Second)

func newWorld(l admission.Limits) *world {
	return &world{
		limits: l, paused: map[string]bool{}, tags: map[string]int64{}, claimed: map[string]int64{},
		tat: map[string]int64{}, step: map[string]int64{}, last: map[string]admission.Rate{}, cancelled: map[string]int64{},
	}
}

// limit looks a key up: live changes, then the exact name, then the longest
// pattern.
func (w *world) limit(key string) (int, bool) {
	var all []admission.KeyLimit
	all = append(all, admission.KeyLimit{Key: "global", Limit: w.limits.Global})
	for _, a := range w.limits.Agents {
		all = append(all, admission.KeyLimit{Key: "agent:" + a.Key, Limit: a.Limit})
	}
	all = append(all, w.limits.Keys...)
	all = append(all, admission.KeyLimit{Key: "agent:*", Limit: w.limits.DefaultAgent})
	for _, k := range slices.Concat(w.over.Limits, all) {
		if k.Key == key {
			return k.Limit, true
		}
	}
	best, found := admission.KeyLimit{}, false
	for _, k := range slices.Concat(w.over.Limits, all) {
		if p, ok := strings.CutSuffix(k.Key, "*"); ok && strings.HasPrefix(key, p) && (!found || len(k.Key) > len(best.Key)) {
			best, found = k, true
		}
	}
	return best.Limit, found
}

func (w *world) rate(key string) (admission.Rate, bool) {
	for _, k := range slices.Concat(w.over.Rates, w.limits.Rates) {
		if k.Key == key {
			return k.Rate, true
		}
	}
	return admission.Rate{}, false
}

func burst(r admission.Rate) int64 {
	if r.Burst == 0 {
		return int64(r.Limit)
	}
	return int64(r.Burst)
}

func stepOf(r admission.Rate) int64 {
	s := int64(r.Per) / int64(r.Limit)
	if s*int64(r.Limit) < int64(r.Per) {
		s++
	}
	return s
}

// used are the units of a key on which somebody still leans.
func (w *world) used(key string) int {
	n := 0
	for _, g := range w.grips {
		for _, a := range w.live {
			if slices.Contains(a.leans, g) {
				n += g.keys[key]
				break
			}
		}
	}
	return n
}

// kept are the units of a key that claims of others keep.
func (w *world) kept(key string, but *ask) int {
	n := 0
	for _, c := range w.claims {
		if c.armed && c != but {
			n += c.keys[key]
		}
	}
	return n
}

// laneOf names the lane: flow and set of keys.
func laneOf(a *ask) string {
	if a.lane != "" {
		return a.lane
	}
	var names []string
	for k := range a.keys {
		names = append(names, "key "+k)
	}
	for k := range a.rates {
		names = append(names, "rate "+k)
	}
	sort.Strings(names)
	a.lane = a.Flow + "\n" + strings.Join(names, "\n")
	return a.lane
}

// small tells that no limit is below what is asked for.
func (w *world) small(a *ask) bool {
	for k, n := range a.keys {
		if l, _ := w.limit(k); l > 0 && n > l {
			return false
		}
	}
	for k, n := range a.rates {
		if r, _ := w.rate(k); r.Limit > 0 && int64(n) > burst(r) {
			return false
		}
	}
	return true
}

// possible tells that it could run if only everybody else left.
func (w *world) possible(a *ask) bool {
	for k := range a.keys {
		if l, ok := w.limit(k); !ok || l == 0 || w.paused[k] {
			return false
		}
	}
	for k := range a.rates {
		if r, ok := w.rate(k); !ok || r.Limit == 0 || w.paused[k] {
			return false
		}
	}
	return w.small(a)
}

func before(a, b *ask) bool { return a.order < b.order || a.order == b.order && a.seq < b.seq }

// heads lists the first of each lane, among those that are visible and small.
func (w *world) heads() []*ask {
	first := map[string]*ask{}
	for _, a := range w.live {
		if a.token > 0 || a.from > w.now || !w.small(a) {
			continue
		}
		if h := first[laneOf(a)]; h == nil || before(a, h) {
			first[laneOf(a)] = a
		}
	}
	var list []*ask
	for _, a := range w.live {
		if first[laneOf(a)] == a {
			list = append(list, a)
		}
	}
	return list
}

func (w *world) rateReady(k string, cost int) int64 {
	r, _ := w.rate(k)
	return max(w.tat[k], w.now) + (int64(cost)-burst(r))*w.step[k]
}

// fits tells that all keys have room and all rates are ready.
func (w *world) fits(a *ask) bool {
	if !w.possible(a) {
		return false
	}
	for k, n := range a.keys {
		if l, _ := w.limit(k); w.used(k)+w.kept(k, a)+n > l {
			return false
		}
	}
	if a.armed {
		return a.ready <= w.now
	}
	for k, n := range a.rates {
		if w.rateReady(k, n) > w.now {
			return false
		}
	}
	return true
}

// active lists the claims that stand: possible, and the first of their flow.
func (w *world) active() []*ask {
	var list []*ask
	for _, c := range w.claims {
		if w.possible(c) && !slices.ContainsFunc(list, func(o *ask) bool { return o.Flow == c.Flow }) {
			list = append(list, c)
		}
	}
	return list
}

// eligible lists what could be granted now by rank: fitting heads of lanes
// that no claim holds.
func (w *world) eligible() []*ask {
	if w.paused[""] {
		return nil
	}
	held := map[string]bool{}
	for _, c := range w.standing {
		if slices.Contains(w.claims, c) {
			held[laneOf(c)] = true
		}
	}
	return slices.DeleteFunc(w.heads(), func(a *ask) bool { return held[laneOf(a)] || !w.fits(a) })
}

// promote makes claims.
func (w *world) promote() {
	var ripe []*ask
	waiting := func(flow string) (n int) {
		for _, a := range w.live {
			if a.waits && a.token == 0 && a.Flow != flow {
				n++
			}
		}
		return n
	}
	held := map[string]bool{}
	claimOf := map[string]bool{}
	for _, c := range w.active() {
		held[laneOf(c)], claimOf[c.Flow] = true, true
	}
	for _, a := range w.heads() {
		units := 0
		for k, n := range a.keys {
			if k != "global" {
				units += n
			}
		}
		for _, n := range a.rates {
			units += n
		}
		patience := int64(w.limits.Patience)
		rested := w.claimed[a.Flow] == 0 || w.now >= w.claimed[a.Flow]+patience || w.tags[a.Flow] <= w.virtual || waiting(a.Flow) == 0
		if units > 1 && w.now-a.from >= patience && w.possible(a) && !held[laneOf(a)] &&
			!claimOf[a.Flow] && rested && !slices.Contains(w.claims, a) {
			ripe = append(ripe, a)
		}
	}
	sort.Slice(ripe, func(i, j int) bool {
		return ripe[i].from < ripe[j].from || ripe[i].from == ripe[j].from && ripe[i].seq < ripe[j].seq
	})
	for _, a := range ripe {
		if !claimOf[a.Flow] {
			claimOf[a.Flow] = true
			w.claims = append(w.claims, a)
		}
	}
}

// arm settles which claims keep room.
func (w *world) arm() {
	active := w.active()
	var arms []*ask
	for i, c := range active {
		free := true
		for _, earlier := range active[:i] {
			for k := range c.keys {
				free = free && earlier.keys[k] == 0
			}
			for k := range c.rates {
				free = free && earlier.rates[k] == 0
			}
		}
		if free {
			arms = append(arms, c)
		}
	}
	for _, c := range w.claims {
		if c.armed && !slices.Contains(arms, c) {
			w.disarm(c)
		}
	}
	for _, c := range arms {
		if c.armed {
			continue
		}
		c.armed, c.ready, c.paid = true, w.now, map[string]int64{}
		for k, n := range c.rates {
			c.ready = max(c.ready, w.rateReady(k, n))
			c.paid[k] = int64(n) * w.step[k]
			w.tat[k] = max(w.tat[k], w.now) + c.paid[k]
		}
	}
}

func (w *world) disarm(c *ask) {
	c.armed = false
	for k, paid := range c.paid {
		w.tat[k] -= paid
	}
	c.paid = nil
}

// turn is one pass over everything.
func (w *world) turn(now int64) {
	w.now = max(w.now, now)
	w.clock()
	if !w.paused[""] {
		w.promote()
		w.arm()
		w.standing = w.active()
		w.grantAll()
	}
	w.reply()
	if !slices.ContainsFunc(w.live, func(a *ask) bool { return a.waits }) {
		for _, tag := range w.tags { // nobody waits: all are even
			w.virtual = max(w.virtual, tag)
		}
	}
}

// grantAll grants the claims that fit, then by rank until nothing is eligible.
func (w *world) grantAll() {
	if w.paused[""] {
		return
	}
	for _, c := range w.standing {
		if slices.Contains(w.claims, c) && w.fits(c) {
			w.grant(c, true)
		}
	}
	for {
		var best *ask
		for _, a := range w.eligible() {
			if best == nil || w.rankLess(a, best) {
				best = a
			}
		}
		if best == nil {
			return
		}
		w.grant(best, false)
	}
}

func (w *world) rankLess(a, b *ask) bool {
	ta, tb := max(w.tags[a.Flow], w.virtual), max(w.tags[b.Flow], w.virtual)
	return ta < tb || ta == tb && before(a, b)
}

func (w *world) weight(flow string) int64 {
	for _, f := range w.limits.Flows {
		if f.Flow == flow {
			return int64(f.Weight)
		}
	}
	return 1
}

func (w *world) grant(a *ask, claim bool) {
	if !a.armed {
		for k, n := range a.rates {
			w.tat[k] = max(w.tat[k], w.now) + int64(n)*w.step[k]
		}
	}
	widest := 1
	for _, n := range a.keys {
		widest = max(widest, n)
	}
	start := max(w.tags[a.Flow], w.virtual)
	w.tags[a.Flow] = start + (1<<20)*int64(widest)/w.weight(a.Flow)
	if claim {
		w.claimed[a.Flow] = w.now
	} else {
		w.virtual = start
	}
	w.give(a)
}

// give makes a holder of a request.
func (w *world) give(a *ask) {
	w.dropClaim(a)
	w.tokens++
	a.armed, a.waits, a.token = false, false, w.tokens
	a.lease, a.end, a.doubt = w.now+int64(w.limits.Lease), 0, 0
	if w.limits.MaxHold > 0 {
		a.end = w.now + int64(w.limits.MaxHold)
	}
	g := &grip{a.token, a.keys}
	w.grips = append(w.grips, g)
	a.leans = append(a.leans, g)
	w.grants = append(w.grants, fmt.Sprintf("%s %d", a.ID, a.token))
}

func (w *world) dropClaim(a *ask) {
	w.claims = slices.DeleteFunc(w.claims, func(c *ask) bool { return c == a })
}

// finish ends a request.
func (w *world) finish(a *ask, answer admission.Answer) {
	if a.armed {
		w.disarm(a)
	}
	w.dropClaim(a)
	a.over = true
	w.live = slices.DeleteFunc(w.live, func(o *ask) bool { return o == a })
	w.say(a.ID, answer, false)
	w.ended = append(w.ended, ended{a.ID, answer, w.now})
}

func (w *world) say(id string, answer admission.Answer, again bool) {
	w.answers = append(w.answers, fmt.Sprintf("%s %s %v", id, answer, again))
}
