package graph_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// What is read as an address is written again to the letter, and its segments
// are what joining makes of them: pause ids and idempotency keys are compared
// as text.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{
		"approve#1", "review#2/approve#1", "review#2~2/approve#1", "each#1/17/approve#1", "each#1~2/17~3/approve#1", "each#1/0", "m#1/5~1", "a#1/17/18", "a#1/-1", "a#01", "a#1~1", "a#0", "17", "a#1/17", "/", "#1", "a#1~", "a#9999999999999999999", "é#1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := graph.ParseAddress(text)
		if err != nil {
			require.ErrorIs(t, err, graph.ErrAddress)
			require.Empty(t, graph.Address(text).Segments())
			require.Equal(t, graph.Segment{}, graph.Address(text).Leaf())
			return
		}
		var again graph.Address
		for _, s := range segments {
			again = again.Join(s)
		}
		require.Equal(t, text, string(again))
		require.Equal(t, segments, again.Segments())
		require.Equal(t, segments[len(segments)-1], again.Leaf())
		require.True(t, graph.ValidID(segments[0].Node))
	})
}

// A checkpoint may come from anywhere. It is refused with a typed failure, or
// the machine made of it takes any event and comes to an end.
func FuzzRestore(f *testing.F) {
	compiled := compileStory(f, everyPhase)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(f, err)
	for _, cp := range everyPhaseCheckpoints(f, compiled) {
		f.Add([]byte(cp))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cp, failure := graph.ParseCheckpoint(data)
		if failure != nil {
			require.Equal(t, "invalid_checkpoint", failure.Type)
			return
		}
		for _, admission := range []bool{false, true} {
			m, failure := graph.Restore(compiled.Plan, cp, graph.Start{Now: noon, Admission: admission})
			if failure != nil {
				require.Contains(t, []string{
					"invalid_checkpoint", "checkpoint_workflow_mismatch", "checkpoint_definition_mismatch", "checkpoint_complete",
				}, failure.Type)
				return
			}
			exercise(t, m, evaluator)
		}
	})
}

// exercise takes a machine through whatever it wants, and ends it.
func exercise(t tester, m *graph.Machine, evaluator *graph.Evaluator) {
	t.Helper()
	now := noon
	for range 50 {
		m.Advance(now, evaluator)
		require.False(t, m.Undecided(), "an evaluator has every answer")
		for _, effect := range m.Effects() {
			switch e := effect.(type) {
			case graph.Acquire:
				m.Admitted(now, e.Number, anyAnswer(e.Number))
			case graph.RunNode:
				require.NotNil(t, e.Task.Node.Run, "only actions run")
				m.End(now, e.Task.Run.Address, oks().ending)
			case graph.StartChild:
				asks := graph.OpenPause{Pause: graph.Pause{ID: e.Start.Address + "/ask#1"}}
				m.Told(now, graph.ChildReport{Address: e.Start.Address, Sequence: 1, Paused: true, Pauses: []graph.OpenPause{asks}})
			case graph.Forward:
				m.Told(now, graph.ChildReport{Address: e.Address, Replies: []graph.Reply{{Request: e.Request}}})
				m.End(now, e.Address, oks().ending)
			case graph.CancelNode:
				m.End(now, e.Address, graph.Ending{Kind: graph.Cancelled})
			case graph.SetTimer:
				m.Fire(now, e.Address)
			case graph.StopTimer:
			}
		}
		for _, p := range m.Pauses() {
			require.Nil(t, m.Answer(now, graph.Answer{PauseID: p.ID, Input: raw(`true`)}))
		}
		now = now.Add(time.Minute)
	}
	m.Cancel(now, "enough")
	m.Advance(now, evaluator)
	for _, effect := range m.Effects() {
		if e, ok := effect.(graph.CancelNode); ok {
			m.End(now, e.Address, graph.Ending{Kind: graph.Cancelled})
		}
	}
	require.NotNil(t, m.Outcome())
	require.Empty(t, m.Belief().Open, "a run that has ended holds nothing")
	if m.Outcome().Status != graph.StatusCompleted {
		require.NotNil(t, m.Outcome().Failure)
	}
	require.True(t, json.Valid([]byte(text(t, m.Report()))))
	require.NotNil(t, m.Current)
}

// anyAnswer is an answer of admission: most are grants.
func anyAnswer(number uint64) graph.Admission {
	switch number % 8 {
	case 1:
		return full
	case 2:
		return freely
	case 3:
		return queued
	case 4:
		return unheard
	default:
		return graph.Admission{Answer: graph.AdmissionGranted, Token: number}
	}
}

// everyPhase is a graph whose runs come through every phase.
const everyPhase = `entry: a
deadline: 100h
max_steps: 40
output_schema: {}
state_reducers: {k: sum}
nodes:
  - {id: a, run: act, retry: {max_attempts: 3}, output_schema: {}, on_error: {cases: [{when: "error.type == 'x'", to: end}], default: w}, next: {cases: [{when: "true", to: w}]}}
  - {id: w, type: wait, for: 1m, next: l}
  - {id: l, type: loop, while: "true", max_iterations: 2, body: p, done: s}
  - {id: p, type: pause, summary: "${ state }", resume_schema: {type: boolean}, expires: 2m, on_expire: l, next: l}
  - {id: s, type: set, input_schema: {}, delta: {k: 1}, output: "${ state.k }", output_schema: {}, next: b}
  - {id: b, type: branch, input_schema: {}, output_schema: {}, cases: [{when: "state.k > 2", to: end}], default: a}
`

// everyPhaseCheckpoints are the checkpoints of some runs after each decision
// and each event.
func everyPhaseCheckpoints(t tester, compiled *graph.Compiled) []string {
	t.Helper()
	var all []string
	for _, script := range []plays{
		{"a": {fails("y"), outputs(`1`), oks(), stops(`2`)}},
		{"a": {interrupted(graph.InterruptWorkerLost), interrupted(graph.InterruptWorkerLost), pauses(graph.PauseRequest{}), routes("s"), fails("x").final()}},
		{"a": {outputs(`"<&>"`), blocks()}},
	} {
		s := tellCompiled(t, compiled, `{"k":0}`, script)
		for range 60 {
			s.m.Advance(s.now, &spy{story: s, left: 1})
			all = append(all, text(t, s.m.Checkpoint()))
			if s.m.Undecided() {
				continue
			}
			s.perform(s.m.Effects())
			switch {
			case s.m.Paused():
				require.Nil(t, s.m.Answer(s.now, graph.Answer{Input: raw(`true`)}))
			case len(s.open) > 0 && !s.open[0].play.blocks:
				task := s.open[0]
				s.open = nil
				s.m.End(s.now, task.task.Run.Address, task.play.ending)
			case len(s.timers) > 0:
				timer := s.timers[0]
				s.timers = nil
				s.m.Fire(timer.At, timer.Address)
			}
			all = append(all, text(t, s.m.Checkpoint()))
		}
		s.m.Cancel(s.now, "over")
		all = append(all, text(t, s.m.Checkpoint()))
		for _, task := range s.open {
			s.m.End(s.now, task.task.Run.Address, graph.Ending{Kind: graph.Cancelled})
		}
		all = append(all, text(t, s.m.Checkpoint()))
	}
	return all
}

// The seeds of the fuzzer come through every phase, and each is restored to the
// byte.
func TestEveryPhaseIsRestored(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPhase)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(t, err)
	seen := map[graph.Phase]bool{}
	for _, cp := range everyPhaseCheckpoints(t, compiled) {
		parsed, failure := graph.ParseCheckpoint(json.RawMessage(cp))
		require.Nil(t, failure)
		phase := graph.Phase("closed")
		if len(parsed.Activations) > 0 {
			phase = parsed.Activations[0].Phase
		}
		seen[phase] = true
		m, failure := graph.Restore(compiled.Plan, parsed, graph.Start{Now: noon})
		if parsed.Outcome != nil && parsed.Outcome.Status == graph.StatusCompleted {
			require.NotNil(t, failure)
			continue
		}
		require.Nil(t, failure, cp)
		if phase == graph.PhaseCancelling {
			cp = strings.Replace(cp, `"phase":"cancelling"`, `"phase":"cancelled"`, 1)
		}
		require.Equal(t, cp, text(t, m.Checkpoint()))
		exercise(t, m, evaluator)
	}
	for _, phase := range []graph.Phase{
		graph.PhaseReady, graph.PhaseDeciding, graph.PhaseRunning, graph.PhaseBackoff, graph.PhaseInterrupted, graph.PhaseWaiting,
		graph.PhasePaused, graph.PhaseAnswered, graph.PhaseChecking, graph.PhaseRouting, graph.PhaseFailed, graph.PhaseEnding,
		graph.PhaseCancelling, graph.PhaseCancelled, "closed",
	} {
		require.True(t, seen[phase], "no run came through %s", phase)
	}
}

// 87: every way a checkpoint can be wrong has its error type.
func TestCheckpointsRefused(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPhase)
	base := everyPhaseCheckpoints(t, compiled)[0]
	paused := func() string {
		for _, cp := range everyPhaseCheckpoints(t, compiled) {
			if strings.Contains(cp, `"phase":"paused"`) {
				return cp
			}
		}
		return ""
	}()
	for _, c := range []struct{ name, cp, from, to, want string }{
		{"not JSON", base, `{`, `[`, "invalid_checkpoint"},
		{"no version", base, `"version":1`, `"version":0`, "invalid_checkpoint"},
		{"a later version", base, `"version":1`, `"version":2`, "invalid_checkpoint"},
		{"another graph", base, `"graph":"story"`, `"graph":"other"`, "checkpoint_workflow_mismatch"},
		{"B29 another definition", base, `"fingerprint":"`, `"fingerprint":"0`, "checkpoint_definition_mismatch"},
		{"a state that is no object", base, `"state":{"k":0}`, `"state":[]`, "invalid_checkpoint"},
		{"negative steps", base, `"steps":1`, `"steps":-1`, "invalid_checkpoint"},
		{"an unknown node", base, `"node":"a","address"`, `"node":"zz","address"`, "invalid_checkpoint"},
		{"an unknown phase", base, `"phase":"running"`, `"phase":"dreaming"`, "invalid_checkpoint"},
		{"a phase of another type", base, `"phase":"running"`, `"phase":"waiting"`, "invalid_checkpoint"},
		{"an address of another node", base, `"address":"a#1"`, `"address":"w#1"`, "invalid_checkpoint"},
		{"an address of a later visit", base, `"address":"a#1"`, `"address":"a#2"`, "invalid_checkpoint"},
		{"an address that is none", base, `"address":"a#1"`, `"address":"a"`, "invalid_checkpoint"},
		{"a visit that was not recorded", base, `"visits":1`, `"visits":0`, "invalid_checkpoint"},
		{"visits that nobody could count on from", base, `"visits":1`, `"visits":9223372036854775807`, "invalid_checkpoint"},
		{"steps that nobody could count on from", base, `"steps":1`, `"steps":9223372036854775807`, "invalid_checkpoint"},
		{"attempts that nobody could count on from", base, `"phase":"running"`, `"phase":"running","attempts":9223372036854775807`, "invalid_checkpoint"},
		{"a pause with another id", paused, `"pause_id":"p#1"`, `"pause_id":"p#2"`, "invalid_checkpoint"},
		{"too many turns", paused, `"turns":1`, `"turns":3`, "invalid_checkpoint"},
		{"a loop that is none", paused, `"loop":"l"`, `"loop":"a"`, "invalid_checkpoint"},
		{"an end without a reason", base, `"state":`, `"stopping":{"status":"failed"},"state":`, "invalid_checkpoint"},
		{"an end that is none", base, `"state":`, `"stopping":{"status":"running"},"state":`, "invalid_checkpoint"},
		{"a node that is asked to stop by nobody", base, `"phase":"running"`, `"phase":"cancelling"`, "invalid_checkpoint"},
		{"a node that stopped in a run that goes on", base, `"phase":"running"`, `"phase":"cancelled"`, "invalid_checkpoint"},
		{"an outcome nobody asked for", base, `"state":`, `"outcome":{"status":"cancelled","failure":{"type":"x","message":""}},"state":`, "invalid_checkpoint"},
		{"89 completed", base, `"state":`, `"stopping":{"status":"completed"},"outcome":{"status":"completed"},"state":`, "checkpoint_complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, c.cp, c.from)
			broken := strings.Replace(c.cp, c.from, c.to, 1)
			cp, failure := graph.ParseCheckpoint(json.RawMessage(broken))
			if failure == nil {
				_, failure = graph.Restore(compiled.Plan, cp, graph.Start{Now: noon})
			}
			require.NotNil(t, failure, broken)
			require.Equal(t, c.want, failure.Type, failure.Message)
		})
	}
}

// A run's options are refused with one type, or taken as they were given.
func FuzzParseRunOptions(f *testing.F) {
	for _, text := range []string{
		``, `null`, `{}`, `{"deadline":"1h","max_steps":5,"lane":{"app":"a","user":"u","session":"s"}}`, `{"spec":{"version":1}}`,
		`{"overflow":"reject","queue_timeout":"90s"}`, `{"overflow":"queue","queue_timeout":"none"}`,
		`{"deadline":3}`, `{"max_steps":-1}`, `{"max_steps":1.5}`, `{"nope":1}`, `{} {}`, `[]`, `{"deadline":"-1h"}`, `{"from":"a#1"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		options, failure := graph.ParseRunOptions(data)
		if failure != nil {
			require.Equal(t, "invalid_run_options", failure.Type)
			require.Equal(t, graph.RunOptions{}, options)
			return
		}
		require.GreaterOrEqual(t, options.MaxSteps, 0)
		require.True(t, options.Deadline >= 0 || options.Deadline == graph.None)
		again, failure := graph.ParseRunOptions([]byte(text(t, options)))
		require.Nil(t, failure)
		require.Equal(t, text(t, options), text(t, again))
	})
}

// 42: options out of range start nothing.
func TestRunOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, given := range []string{
		`{"max_steps":-1}`, `{"deadline":"0s x"}`, `{"deadline":-1}`, `{"deadline":"-5m"}`, `{"max_concurrency":0}`, `{"Max_Stepz":1}`,
		`{"checkpoint":[]}`, `{"from":"a#1"}`, `{"checkpoint":{},"from":"a"}`, `{"checkpoint":7}`, `{"overflow":"drop"}`, `{"queue_timeout":"0s"}`, `{"deadline":"0s"}`, `{"queue_timeout":"-1s"}`, `{"queue_timeout":5}`, `7`, `"x"`, `{`, `{}{}`,
	} {
		_, failure := graph.ParseRunOptions([]byte(given))
		require.NotNil(t, failure, given)
		require.Equal(t, "invalid_run_options", failure.Type)
	}
}

// A length of time that can be read is never negative, never longer than a
// hundred years, and written so that it is read alike.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"30s", "1.5h", "7d", "1d12h", "none", "0s", "", "-1s", "1e9d", "100000d", "9999999999h", "d", "1dd", "NaNd", "0.1d", "+5s", "1h-30m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := graph.ParseDuration(text)
		if err != nil {
			return
		}
		require.True(t, d == graph.None || d >= 0 && d.Std() <= 100*365*24*time.Hour, "%q is %d", text, d)
		again, err := graph.ParseDuration(d.String())
		require.NoError(t, err, "%q is written as %q", text, d.String())
		require.Equal(t, d, again)
	})
}
