package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// tester is what a story needs of a test, a fuzzer or a property.
type tester interface {
	require.TestingT
	Helper()
}

// noon is when every story begins.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// story drives one machine as a workflow does, with scripted actions and a
// clock of its own. Whatever it runs it runs twice over: the machine is advanced
// by recorded decisions of a copy, in batches, and must agree with a copy that
// evaluates by itself.
type story struct {
	t        tester
	compiled *graph.Compiled
	decider  graph.Decider
	start    graph.Start
	m        *graph.Machine
	now      time.Time

	plays  map[string][]play // per node, in order; when used up the node blocks
	open   []openTask        // in the order they were scheduled
	timers []graph.SetTimer
	closed map[graph.Address]bool // addresses whose activity has had its last ending

	graphs   map[string]*graph.Compiled // the catalogue that children come from
	kids     []*kid                     // children that are open
	finished []*story                   // children that have ended
	refused  *graph.Failure             // of a child that could not begin

	gate     *gate  // answers for permits; nil: there is no admission
	watch    func() // called after each batch of decisions
	batch    int    // decisions per batch
	restores bool   // restore the machine from its checkpoint before every event

	seen  []string // inputs: of tasks "node input", of decisions "node? input"
	tasks []graph.Task
	runs  []graph.RunNode // as the machine asked for them
	log   []string        // effects and events, for transcripts
}

// openTask is a scheduled activity.
type openTask struct {
	task      graph.Task
	args      json.RawMessage // of an activity that is not ours
	local     bool
	priority  int
	flow      string
	play      play
	due       time.Time
	cancelled bool
}

// tell begins a story: a document without its first lines, and an input.
func tell(t tester, doc, input string, plays map[string][]play, change ...func(*story)) *story {
	t.Helper()
	compiled, found := graph.Compile("story.yaml", []byte("version: 1\nid: story\n"+doc), graph.CompileOptions{})
	require.NotNil(t, compiled, "%v", found)
	return tellCompiled(t, compiled, input, plays, change...)
}

func tellCompiled(t tester, compiled *graph.Compiled, input string, plays map[string][]play, change ...func(*story)) *story {
	t.Helper()
	canonical, failure := graph.CheckInput(compiled.Document, json.RawMessage(input))
	require.Nil(t, failure)
	s := &story{
		t: t, compiled: compiled, now: noon, plays: map[string][]play{}, closed: map[graph.Address]bool{},
		batch: graph.MaxBatchDecisions,
		start: graph.Start{
			Input: canonical, Lineage: "first", Now: noon,
			Facts: graph.RunFacts{ID: "w", RunID: "r", Graph: "story", Started: noon},
		},
	}
	for node, list := range plays {
		s.plays[node] = slices.Clone(list)
	}
	for _, c := range change {
		c(s)
	}
	if s.decider == nil {
		evaluator, err := graph.NewEvaluator(compiled.Document, nil)
		require.NoError(t, err)
		s.decider = evaluator
	}
	s.start.Admission = s.gate != nil
	m, err := graph.New(compiled.Plan, s.start)
	require.NoError(t, err)
	s.m = m
	s.perform(m.Effects())
	return s
}

// run carries the story on until the run has ended, is paused as a whole, or
// waits for an activity that blocks.
func (s *story) run() *story {
	s.t.Helper()
	s.advance()
	for s.m.Outcome() == nil && (!s.m.Paused() || s.hasNews()) && s.step(time.Time{}) {
	}
	return s
}

// sleep carries the story on by a length of time.
func (s *story) sleep(d time.Duration) *story {
	s.t.Helper()
	s.advance()
	until := s.now.Add(d)
	for s.m.Outcome() == nil && s.step(until) {
	}
	s.now = until
	s.advance()
	return s
}

// answer answers a pause and returns the refusal, if it was refused at once.
func (s *story) answer(a graph.Answer) *graph.Failure {
	s.t.Helper()
	s.restore()
	var failure *graph.Failure
	s.event(fmt.Sprintf("answer %s %s", a.PauseID, a.Input), func() { failure = s.m.Answer(s.now, a) })
	return failure
}

// cancel asks the run to stop.
func (s *story) cancel(reason string) *story {
	s.t.Helper()
	s.restore()
	s.event("cancel: "+reason, func() { s.m.Cancel(s.now, reason) })
	return s
}

// event tells the machine something and carries it on.
func (s *story) event(line string, tell func()) {
	s.t.Helper()
	s.logf("> %s", line)
	tell()
	s.perform(s.m.Effects())
	s.advance()
}

// step lets the next thing happen that is due, not after until when that is
// set: an activity ends, a timer fires, or the deadline comes.
func (s *story) step(until time.Time) bool {
	s.t.Helper()
	at, happen := s.next()
	if happen == nil || !until.IsZero() && at.After(until) {
		return false
	}
	if at.After(s.now) {
		s.now = at
	}
	s.restore()
	happen()
	return true
}

func (s *story) next() (time.Time, func()) {
	var at time.Time
	var happen func()
	sooner := func(when time.Time, do func()) {
		if happen == nil || when.Before(at) {
			at, happen = when, do
		}
	}
	for i, task := range s.open {
		if !task.due.IsZero() {
			sooner(task.due, func() { s.end(i) })
		}
	}
	for i, timer := range s.timers {
		sooner(timer.At, func() { s.fire(i) })
	}
	s.nextOfKids(sooner)
	if deadline, ok := s.m.Deadline(); ok {
		sooner(deadline, func() { s.event("deadline", func() { s.m.Expire(s.now) }) })
	}
	return at, happen
}

func (s *story) end(i int) {
	task := s.open[i]
	address, ending := task.task.Run.Address, s.endingOf(task)
	s.gate.ends(s, address, ending)
	s.open = slices.Delete(s.open, i, i+1)
	s.event(fmt.Sprintf("end %s %s", address, describe(ending)), func() {
		s.m.End(s.now, address, ending)
	})
}

// endingOf is how a task ends: as its wrapper would report it.
func (s *story) endingOf(task openTask) graph.Ending {
	if task.cancelled && task.play.blocks {
		return task.play.handingBack(task.task, graph.Ending{Kind: graph.Cancelled, Failure: task.play.ending.Failure})
	}
	return task.play.handingBack(task.task, wrapped(s.t, task.task, task.play.ending))
}

func (s *story) fire(i int) {
	timer := s.timers[i]
	s.timers = slices.Delete(s.timers, i, i+1)
	s.event(fmt.Sprintf("fire %s (%s)", timer.Address, timer.Purpose), func() { s.m.Fire(s.now, timer.Address) })
}

// perform does what the machine wants done.
func (s *story) perform(effects []graph.Effect) {
	s.t.Helper()
	s.gate.order(s.t, effects)
	for _, effect := range effects {
		s.logf("< %s", effectLine(effect))
		switch e := effect.(type) {
		case graph.Acquire:
			s.gate.ask(s, e)
		case graph.Release:
			s.gate.release(s, e)
		case graph.RunNode:
			s.schedule(e)
		case graph.StartChild:
			s.startChild(e)
		case graph.Forward:
			s.hand(e)
		case graph.CancelNode:
			if k := s.kidOf(e.Address); k != nil {
				s.cancelKid(k)
				continue
			}
			i := s.openIndex(e.Address)
			require.GreaterOrEqual(s.t, i, 0, "cancel of %s, which is not open", e.Address)
			s.open[i].cancelled = true
			if s.open[i].play.blocks {
				s.open[i].due = s.now.Add(s.open[i].play.after)
			}
		case graph.SetTimer:
			require.Negative(s.t, s.timerIndex(e.Address), "%s has a timer already", e.Address)
			s.timers = append(s.timers, e)
		case graph.StopTimer:
			if i := s.timerIndex(e.Address); i >= 0 {
				s.timers = slices.Delete(s.timers, i, i+1)
			}
		}
	}
}

func (s *story) schedule(e graph.RunNode) {
	s.t.Helper()
	address, node := e.Task.Run.Address, e.Task.Node.ID
	require.Negative(s.t, s.openIndex(address), "%s is scheduled twice", address)
	require.False(s.t, s.closed[address], "%s is used again", address)
	s.gate.begins(s, e)
	task := openTask{task: e.Task, args: e.Args, local: e.Local, priority: e.Priority, flow: e.Flow, play: play{blocks: true}}
	for _, name := range []string{string(address), node} { // an item's by its address
		if list := s.plays[name]; len(list) > 0 {
			task.play, s.plays[name] = list[0], list[1:]
			break
		}
	}
	if !task.play.blocks {
		task.due = s.now.Add(task.play.after)
		s.closed[address] = task.play.ending.Kind == graph.Returned
	}
	s.open = append(s.open, task)
	s.tasks, s.runs = append(s.tasks, e.Task), append(s.runs, e)
	s.seen = append(s.seen, fmt.Sprintf("%s %s", node, e.Task.Input))
}

func (s *story) openIndex(a graph.Address) int {
	return slices.IndexFunc(s.open, func(o openTask) bool { return o.task.Run.Address == a })
}

func (s *story) timerIndex(a graph.Address) int {
	return slices.IndexFunc(s.timers, func(o graph.SetTimer) bool { return o.Address == a })
}

func (s *story) logf(format string, args ...any) {
	s.log = append(s.log, s.now.Sub(noon).String()+" "+fmt.Sprintf(format, args...))
}
