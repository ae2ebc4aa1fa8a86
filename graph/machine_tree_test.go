package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// treeTest tells a tree of machines and a tree of models the same events.
type treeTest struct {
	t     *rapid.T
	world *treeWorld
	root  *treePair

	asked    []treeAsked
	requests int
	reports  []treeReport
	owners   map[graph.Address]*story // who used an address
	past     []string
}

// treePair is a machine's story and the model of the same run.
type treePair struct {
	s  *story
	r  *treeRun
	up *treePair // nil for the root
	k  *kid
	v  *treeVisit // of the parent
}

// treeAsked is an answer whose verdict is not known yet.
type treeAsked struct {
	s       *story
	r       *treeRun
	request string
}

// treeReport is a report that was delivered, to be delivered again.
type treeReport struct {
	s      *story
	report graph.ChildReport
}

// treeEvent is something that can happen now.
type treeEvent struct {
	line string
	do   func()
}

// drawTree makes up a graph and begins a run of it.
func drawTree(t *rapid.T, fault string) *treeTest {
	d := &treeDrawer{t: t}
	g := d.graph(0)
	input := rapid.SampledFrom([]string{`{"c":0}`, `{"c":3,"list":[7,8]}`, `{"c":1,"k":[1,2]}`, `{}`}).Draw(t, "input")
	h := &treeTest{t: t, world: &treeWorld{now: noon, fault: fault}, owners: map[graph.Address]*story{}, past: []string{g.document(), input}}
	s := tell(t, g.document(), input, nil, func(s *story) { s.batch = rapid.IntRange(1, 20).Draw(t, "batch") }, func(s *story) {
		if h.world.admission = rapid.Bool().Draw(t, "admission"); h.world.admission {
			s.gate = newGate()
		}
	})
	r := newTreeRun(h.world, g, plain(raw(input)).(map[string]any))
	h.root = &treePair{s: s, r: r}
	s.advance()
	r.settle()
	return h
}

// pairs are the runs that are open, parents first; missing names a child that
// only one side has.
func (h *treeTest) pairs() (list []*treePair, missing string) {
	var walk func(*treePair)
	walk = func(p *treePair) {
		list = append(list, p)
		kids := 0
		for _, v := range p.r.all() {
			if v.child == nil || v.phase != "running" && v.phase != "cancelling" {
				continue
			}
			kids++
			i := slices.IndexFunc(p.s.kids, func(k *kid) bool { return string(k.start.Address) == v.child.prefix })
			if i < 0 {
				missing = "the machine has no child " + v.child.prefix
				return
			}
			if k := p.s.kids[i]; k.story.refused == nil {
				walk(&treePair{s: k.story, r: v.child, up: p, k: k, v: v})
			} else {
				list = append(list, &treePair{s: k.story, r: v.child, up: p, k: k, v: v})
			}
		}
		if kids != len(p.s.kids) {
			missing = fmt.Sprintf("%s has %d children, by the model %d", p.r.prefix, len(p.s.kids), kids)
		}
	}
	walk(h.root)
	return list, missing
}

// open reports whether the run has begun and not ended.
func (p *treePair) open() bool { return p.s.refused == nil && p.s.m.Outcome() == nil }

// run lets up to a number of events happen, then cancels and lets everything end.
// It gives the first difference between the machine and the model.
func (h *treeTest) run(events int) string {
	for i := 0; ; i++ {
		if different := h.compare(); different != "" {
			return different
		}
		if h.root.s.m.Outcome() != nil {
			return h.ended()
		}
		if i > events+500 {
			return "the run does not end"
		}
		if i == events {
			h.happen(h.root, treeEvent{"cancel", func() { h.root.s.cancel("enough"); h.root.r.cancel() }})
			continue
		}
		h.draw(i > events)
	}
}

// draw lets one of the events happen that are possible now.
func (h *treeTest) draw(ending bool) {
	pairs, _ := h.pairs()
	batch, restores := rapid.IntRange(1, 20).Draw(h.t, "batch"), rapid.Bool().Draw(h.t, "restores")
	var events []treeEvent
	var of []*treePair
	for _, due := range []bool{true, false} { // a deadline that has come comes first
		for _, p := range pairs {
			p.s.batch, p.s.restores, p.s.now = batch, restores, h.world.now
			list := h.deadlines(p)
			if !due {
				list = h.possible(p, ending)
			}
			for _, e := range list {
				events, of = append(events, e), append(of, p)
			}
		}
		if len(events) > 0 {
			break
		}
	}
	if next := h.later(pairs); !next.IsZero() && (len(events) == 0 || !ending && rapid.IntRange(0, 3).Draw(h.t, "wait") == 0) {
		h.happen(nil, treeEvent{"until " + next.Sub(noon).String(), func() { h.world.now = next }})
		return
	}
	if len(events) == 0 {
		return
	}
	i := rapid.IntRange(0, len(events)-1).Draw(h.t, "event")
	h.happen(of[i], events[i])
}

func (h *treeTest) happen(p *treePair, e treeEvent) {
	if p != nil {
		e.line = p.r.prefix + " " + e.line
	}
	h.past = append(h.past, e.line)
	e.do()
	h.listen(h.root.s)
}

// listen hands verdicts up, from the bottom.
func (h *treeTest) listen(s *story) {
	for _, k := range s.kids {
		if k.story.refused == nil {
			h.listen(k.story)
			k.listen()
		}
	}
}

// later is the next moment at which something is due; zero: something is now, or
// never.
func (h *treeTest) later(pairs []*treePair) time.Time {
	var next time.Time
	for _, p := range pairs {
		if p.s.refused != nil {
			continue
		}
		var due []time.Time
		for _, timer := range p.s.timers {
			due = append(due, timer.At)
		}
		if at, ok := p.s.m.Deadline(); ok {
			due = append(due, at)
		}
		for _, at := range due {
			if next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	if !next.After(h.world.now) {
		return time.Time{}
	}
	if rapid.IntRange(0, 4).Draw(h.t, "halfway") == 0 {
		next = h.world.now.Add(next.Sub(h.world.now) / 2)
	}
	return next
}

func (h *treeTest) deadlines(p *treePair) []treeEvent {
	if !p.open() || !p.s.m.Overdue(h.world.now) {
		return nil
	}
	return []treeEvent{{"deadline", func() {
		p.s.restore()
		p.s.event("deadline", func() { p.s.m.Expire(p.s.now) })
		p.r.expire()
	}}}
}

// possible are the events of one run. Towards the end nobody answers or cancels
// any more.
func (h *treeTest) possible(p *treePair, ending bool) []treeEvent {
	var list []treeEvent
	if p.up != nil {
		list = append(list, h.news(p)...)
	}
	if !p.open() {
		return list
	}
	for i, task := range p.s.open {
		list = append(list, treeEvent{"end " + string(task.task.Run.Address), func() { h.end(p, i) }})
	}
	list = append(list, h.admissions(p)...)
	if len(p.s.open) > 1 {
		list = append(list, treeEvent{"ends together", func() { h.endTogether(p) }})
	}
	for i, timer := range p.s.timers {
		if !timer.At.After(h.world.now) {
			list = append(list, treeEvent{"fire " + string(timer.Address), func() {
				v := p.r.visitOf(string(timer.Address))
				p.s.restore()
				p.s.fire(i)
				if strings.HasPrefix(timer.Purpose, "admission: ") {
					return // it asks again, and that is all
				}
				p.r.fire(v)
				p.r.settle()
			}})
		}
	}
	if ending {
		return list
	}
	if len(p.r.wasOpen) > 0 {
		answer := treeEvent{"answer", func() { h.answer(p) }}
		list = append(list, answer)
		if len(p.s.m.Pauses()) > 0 {
			list = append(list, answer, answer)
		}
	}
	if rapid.IntRange(0, 40).Draw(h.t, "cancels") == 0 {
		list = append(list, treeEvent{"cancel", func() { p.s.cancel("drawn"); p.r.cancel() }})
	}
	if rapid.IntRange(0, 8).Draw(h.t, "ignores") == 0 {
		list = append(list, treeEvent{"stale", func() { h.stale(p) }})
	}
	return list
}

// news is what a child has to tell.
func (h *treeTest) news(p *treePair) []treeEvent {
	tell := p.up.s.news(p.k)
	switch {
	case tell == nil:
		return nil
	case p.s.refused != nil || p.s.m.Outcome() != nil && len(p.k.replies) == 0:
		return []treeEvent{{"ended", func() {
			tell()
			p.up.r.endChild(p.v)
			p.up.r.settle()
		}}}
	}
	return []treeEvent{{"told", func() {
		report := p.s.m.TellsParent().Since(p.k.said)
		report.Sequence, report.Replies = p.k.sequence+1, p.k.replies
		h.reports = append(h.reports, treeReport{p.up.s, report})
		tell()
		p.up.r.told(p.v)
		p.up.r.settle()
		if p.up.open() && rapid.IntRange(0, 3).Draw(h.t, "again") == 0 {
			h.stale(p.up)
		}
	}}}
}

// ending makes up how an activity ends, and what the story must know of it.
func (h *treeTest) ending(p *treePair, i int) graph.Ending {
	task := p.s.open[i].task
	ending := drawTreeEnding(h.t, p.r, task)
	if task.Permit != nil && p.s.permit(task.Run.Address) != nil && rapid.Bool().Draw(h.t, "gives back") {
		switch {
		case ending.Kind != graph.Interrupted:
			ending.Released = task.Run.Token
		case p.s.gate.held[p.s.gate.latest(task.Run.Address)] != 0: // it did, and was lost
			p.s.gate.loses(task.Run.Address)
		}
	}
	p.s.closed[task.Run.Address] = ending.Kind == graph.Returned
	h.past = append(h.past, "  "+string(task.Run.Address)+" "+describe(ending))
	return ending
}

func (h *treeTest) end(p *treePair, i int) {
	ending := h.ending(p, i)
	v := p.r.visitOf(string(p.s.open[i].task.Run.Address))
	p.s.restore()
	p.s.open[i].play = play{ending: ending}
	p.s.end(i)
	p.r.end(v, ending)
	p.r.settle()
}

func (h *treeTest) endTogether(p *treePair) {
	endings := map[graph.Address]graph.Ending{}
	var order []graph.Address
	for i := range p.s.open {
		if address := p.s.open[i].task.Run.Address; rapid.IntRange(0, 3).Draw(h.t, "ends") > 0 {
			endings[address] = h.ending(p, i)
			order = append(order, address)
		}
	}
	if len(order) > 0 {
		order = rapid.Permutation(order).Draw(h.t, "order")
	}
	p.s.restore()
	p.s.endTogether(endings, order...)
	for _, address := range order {
		p.r.end(p.r.visitOf(string(address)), endings[address])
	}
	p.r.settle()
}

// drawTreeEnding makes up how an activity of a node ends.
func drawTreeEnding(t *rapid.T, r *treeRun, task graph.Task) graph.Ending {
	delta := rapid.SampledFrom([][]string{
		nil, nil, {`{"c":1}`}, {`{"c":2,"k":"a"}`}, {`{"list":["z"]}`}, {`{"k":7}`}, {`{"c":"x"}`}, {`{"k":[4]}`},
	}).Draw(t, "delta")
	next := "end"
	if n := r.graph.node(task.Node.ID); n != nil {
		next = n.next
	}
	if rapid.IntRange(0, 2).Draw(t, "well") > 0 {
		return rapid.SampledFrom([]play{outputs(`1`, delta...), outputs(`{"a":1}`, delta...), outputs(`null`), oks(delta...)}).Draw(t, "ending").ending
	}
	return rapid.SampledFrom([]play{
		stops(`"stop"`, delta...), routes(next, delta...), routes("end"), routes("zz"), routes(""), routes("n0b0"), routes("n1j"),
		pauses(graph.PauseRequest{Summary: "?", ResumeSchema: raw(`{"type":"object"}`)}, delta...),
		pauses(graph.PauseRequest{Expires: graph.Duration(20 * time.Second)}, delta...),
		fails("boom"), fails("boom"), fails("fatal"), fails("boom").final(), fails("boom").retryAfter(22 * time.Second), fails("boom").used(2), timesOut(),
		interrupted(graph.InterruptWorkerLost), interrupted(graph.InterruptNotRegistered), interrupted(graph.InterruptShutdown),
		{ending: graph.Ending{Kind: graph.Cancelled}},
	}).Draw(t, "ending").ending
}

// answer answers a pause that is, was or never will be open.
func (h *treeTest) answer(p *treePair) {
	ids := []string{"", "zz#1"}
	for _, open := range p.r.pauses() {
		ids = append(ids, open.id, open.id, open.id)
		if open.alias != "" {
			ids = append(ids, open.alias)
		}
	}
	for id := range p.r.wasOpen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	a := treeAnswer{id: rapid.SampledFrom(ids).Draw(h.t, "pause")}
	given := graph.Answer{PauseID: graph.Address(a.id), Via: "update", Input: raw(rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"c":1}`, `1`, `null`}).Draw(h.t, "input"))}
	h.requests++
	a.request = fmt.Sprintf("q%d", h.requests)
	given.Request = a.request
	switch rapid.IntRange(0, 20).Draw(h.t, "wrong") {
	case 0:
		a.absent, given.Input = true, nil
	case 1:
		a.digest, given.Digest = true, "another"
	}
	a.input = plain(given.Input)
	h.past = append(h.past, fmt.Sprintf("  answer %s to %s: %s", a.request, a.id, given.Input))
	got, want := "", p.r.answer(a)
	if failure := p.s.answer(given); failure != nil {
		got = failure.Type
	}
	require.Equal(h.t, want, got)
	p.r.settle()
	if got == "" {
		h.asked = append(h.asked, treeAsked{p.s, p.r, a.request})
	}
}

// stale are events that have nothing to do with what is open: they change nothing.
func (h *treeTest) stale(p *treePair) {
	before := text(p.s.t, p.s.m.Checkpoint())
	for _, old := range slices.Backward(h.reports) { // the oldest would stand last
		if old.s == p.s {
			p.s.m.Told(p.s.now, old.report)
		}
	}
	for address, owner := range h.owners {
		if owner == p.s && p.s.openIndex(address) < 0 && p.s.kidOf(address) == nil {
			p.s.m.End(p.s.now, address, oks().ending)
		}
		if p.s.timerIndex(address) < 0 {
			p.s.m.Fire(p.s.now, address)
		}
	}
	require.Equal(h.t, before, text(p.s.t, p.s.m.Checkpoint()))
	require.Empty(h.t, p.s.m.Effects())
}

// Any tree of graphs, any events in any order: after each event the machines
// stand where the plain model of the same rules stands, in all that can be seen
// of them. Run it for longer with -run TestTreesAgainstModel -rapid.checks=20000.
func TestTreesAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := drawTree(rt, "")
		defer func() {
			if rt.Failed() {
				rt.Log(strings.Join(h.past, "\n"))
			}
		}()
		require.Empty(rt, h.run(rapid.IntRange(0, 60).Draw(rt, "events")))
	})
}
