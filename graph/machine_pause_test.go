package graph_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

const approval = `entry: ask
nodes:
  - {id: ask, run: act, next: {cases: [{when: "input.approved", to: accepted}], default: rejected}}
  - {id: accepted, run: act, next: end}
  - {id: rejected, type: set, output: rejected, next: end}
`

// pauseNode is a pause node with some fields, and a set that shows the answer.
func pauseNode(fields string) string {
	return `entry: p
nodes:
  - {id: p, type: pause, ` + fields + `next: s}
  - {id: s, type: set, output: "${ input }", next: end}
  - {id: late, type: set, output: "${ ['late', input] }", next: end}
`
}

// Pauses: what an answer becomes, and what it does not.
func TestPauses(t *testing.T) {
	t.Parallel()
	asks := pauses(graph.PauseRequest{Reason: "approval", Summary: "may I?"}, `{"asked":true}`)
	runRows(t, []row{
		{
			name: "74 an action asks, the answer is routed", doc: approval, plays: plays{"ask": {asks}, "accepted": {oks()}},
			answers: []string{`{"approved":true}`},
			want: want{
				status: graph.StatusCompleted, output: `{"asked":true}`, seen: `ask {}; accepted {"approved":true}`, steps: 2,
			},
		},
		{
			name: "74 the other way", doc: approval, plays: plays{"ask": {asks}}, answers: []string{`{"approved":false}`},
			want: want{status: graph.StatusCompleted, output: `"rejected"`, state: `{"asked":true}`},
		},
		{
			// The delta is part of the state while the run waits.
			name: "74 before the answer", doc: approval, plays: plays{"ask": {asks}},
			want: want{status: graph.StatusPaused, state: `{"asked":true}`, steps: 1},
		},
		{
			name: "77 the answer is not the run's output",
			doc: `entry: ask
nodes:
  - {id: ask, run: act, next: end}
`,
			plays: plays{"ask": {asks}}, answers: []string{`{"yes":true}`},
			want: want{status: graph.StatusCompleted, output: `{"asked":true}`},
		},
		{
			name: "78 a pause without a delta", doc: approval,
			plays:   plays{"ask": {pauses(graph.PauseRequest{})}, "accepted": {oks()}},
			answers: []string{`{"approved":true}`},
			want:    want{status: graph.StatusCompleted, output: `{}`},
		},
		{
			name: "79 a pause is not tried again",
			doc: `entry: ask
nodes:
  - {id: ask, run: act, retry: {max_attempts: 3}, next: end}
`,
			plays: plays{"ask": {asks, outputs(`1`)}}, answers: []string{`null`},
			want: want{status: graph.StatusCompleted, seen: `ask {}`},
		},
		{
			name: "null is an answer", doc: pauseNode(""), answers: []string{`null`},
			want: want{status: graph.StatusCompleted, output: `null`},
		},
		{
			name: "a pause node's output and delta see the answer as result",
			doc: `entry: p
nodes:
  - {id: p, type: pause, output: "${ result.a }", delta: {b: "${ result.b }", before: "${ input.k }"}, next: end}
`,
			input: `{"k":7}`, answers: []string{`{"a":"<x>","b":2}`},
			want: want{status: graph.StatusCompleted, output: `"<x>"`, state: `{"b":2,"before":7,"k":7}`},
		},
		{
			name: "an answer that breaks the node's output schema fails the node",
			doc: `entry: p
nodes:
  - {id: p, type: pause, output_schema: {type: integer}, on_error: t, next: end}
  - {id: t, type: set, output: "${ input.type + ' ' + input.address }", next: end}
`,
			answers: []string{`"x"`},
			want:    want{status: graph.StatusCompleted, output: `"node_output_schema_validation_failed p#1"`},
		},
		{
			name: "B11 the same node asks again, under another id",
			doc: `entry: p
nodes:
  - {id: p, type: pause, delta: {got: "${ [result] }"}, next: {cases: [{when: "input == 'stop'", to: end}], default: p}}
state_reducers: {got: append}
`,
			input: `{"got":[]}`, answers: []string{`1`, `2`, `"stop"`},
			want: want{status: graph.StatusCompleted, output: `{"got":[1,2,"stop"]}`, steps: 3},
		},
		{
			name: "81 one after the other",
			doc: `entry: p
nodes:
  - {id: p, type: pause, next: q}
  - {id: q, type: pause, next: s}
  - {id: s, type: set, output: "${ input }", next: end}
`,
			answers: []string{`1`, `2`}, want: want{status: graph.StatusCompleted, output: `2`, steps: 3},
		},
	})
}

// Every way an answer is refused, and that a refusal changes nothing.
func TestAnswersRefused(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, fields string) *story {
		t.Helper()
		return tell(t, pauseNode(fields), "", nil).run()
	}
	digest := open(t, `summary: one, `).m.Pauses()[0].Digest
	for _, c := range []struct {
		name, fields string
		answer       graph.Answer
		want         string
	}{
		{"75 no input", "", graph.Answer{}, "resume_input_required"},
		{"75 too large an input", "", graph.Answer{Input: raw(`"` + strings.Repeat("x", 100) + `"`)}, "invalid_resume_input"},
		{"a note that nobody could keep", "", graph.Answer{Input: raw(`1`), Note: strings.Repeat("x", 1025)}, "invalid_resume_input"},
		{"an actor that nobody could keep", "", graph.Answer{Input: raw(`1`), Actor: strings.Repeat("x", 1025)}, "invalid_resume_input"},
		{"no such pause", "", graph.Answer{PauseID: "nope#1", Input: raw(`1`)}, "unknown_pause"},
		{"a later visit", "", graph.Answer{PauseID: "p#2", Input: raw(`1`)}, "unknown_pause"},
		{"not an address", "", graph.Answer{PauseID: "../p", Input: raw(`1`)}, "unknown_pause"},
		{"a node that does not pause", "", graph.Answer{PauseID: "s#1", Input: raw(`1`)}, "unknown_pause"},
		{"in a child", "", graph.Answer{PauseID: "p#1/p#1", Input: raw(`1`)}, "unknown_pause"},
		{"B25 another digest", `summary: two, `, graph.Answer{Input: raw(`1`), Digest: digest}, "pause_digest_mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, pauseNode(c.fields), "", nil, func(s *story) { s.start.Limits.Payload = 64 }).run()
			before := text(t, s.m.Checkpoint())
			failure := s.answer(c.answer)
			require.NotNil(t, failure)
			require.Equal(t, c.want, failure.Type)
			require.Equal(t, before, text(t, s.m.Checkpoint()))
			require.True(t, s.m.Paused())
			require.Nil(t, s.answer(graph.Answer{PauseID: "p#1", Input: raw(`1`)}))
			require.Equal(t, graph.StatusCompleted, s.m.Status())
		})
	}
	s := open(t, `summary: one, `)
	require.Nil(t, s.answer(graph.Answer{Input: raw(`1`), Digest: digest}), "the same text has the same digest")
}

// An answer is used once: B3, B15, B20. One that comes before its pause is
// refused and not kept.
func TestAnswersAreUsedOnce(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: a
nodes:
  - {id: a, run: act, next: p}
  - {id: p, type: pause, next: {cases: [{when: "input", to: p}], default: w}}
  - {id: w, run: act, next: end}
`, "", plays{"a": {outputs(`1`)}})
	require.Equal(t, "unknown_pause", s.m.Judge(graph.Answer{Input: raw(`true`)}).Type, "before the first step")
	s.advance()
	require.Equal(t, "unknown_pause", s.m.Judge(graph.Answer{Input: raw(`true`)}).Type, "early and plain")
	require.Equal(t, "unknown_pause", s.m.Judge(graph.Answer{PauseID: "p#1", Input: raw(`true`)}).Type, "early and addressed")
	s.run()
	require.Nil(t, s.answer(graph.Answer{PauseID: "p#1", Input: raw(`true`), Actor: "ann", Note: "go", Via: "update", UpdateID: "u1"}))
	require.Equal(t, graph.Address("p#2"), s.m.Pauses()[0].ID)
	require.Equal(t, "pause_closed", s.answer(graph.Answer{PauseID: "p#1", Input: raw(`false`)}).Type)
	require.Equal(t, graph.Address("p#2"), s.m.Pauses()[0].ID, "an answer to the first does not close the second")
	require.Nil(t, s.answer(graph.Answer{Input: raw(`false`), Via: "signal"}))
	require.Equal(t, "pause_closed", s.answer(graph.Answer{PauseID: "p#2", Input: raw(`false`)}).Type)
	require.Equal(t, "unknown_pause", s.answer(graph.Answer{Input: raw(`false`)}).Type)
	require.Equal(t, []graph.AnswerRecord{
		{PauseID: "p#1", Closed: graph.ClosedAnswered, Actor: "ann", Note: "go", Via: "update", UpdateID: "u1", At: noon},
		{PauseID: "p#2", Closed: graph.ClosedAnswered, Via: "signal", At: noon},
	}, s.m.Checkpoint().Answers)
}

// Answers that come together are checked in order: the first that fits is
// taken, those before it are refused for their shape and those behind it
// because the pause is closed.
func TestSeveralAnswersAtOnce(t *testing.T) {
	t.Parallel()
	for _, restores := range []bool{false, true} {
		s := tell(t, pauseNode(`resume_schema: {type: integer}, `), "", nil, func(s *story) { s.restores = restores }).run()
		for _, input := range []string{`"a"`, `"b"`, `3`, `4`, `"c"`} {
			require.Nil(t, s.m.Answer(s.now, graph.Answer{Input: raw(input), Via: "signal", PauseID: "p#1"}))
			require.True(t, s.m.Answering("p#1"))
			require.False(t, s.m.Paused(), "an answer is being looked at")
			s.restore()
		}
		s.advance()
		require.Equal(t, `3`, string(s.m.Outcome().Output))
		var types []string
		rejected := s.m.Checkpoint().Rejected
		for _, r := range rejected.Last {
			require.Equal(t, "p#1", r.PauseID)
			types = append(types, r.Type)
		}
		require.Equal(t, 4, rejected.Count)
		require.Equal(t, "invalid_resume_input invalid_resume_input pause_closed pause_closed", strings.Join(types, " "))
	}
}

// B30: an answer that does not fit is counted, and the pause stays open.
func TestAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := tell(t, pauseNode(`resume_schema: {type: integer}, `), "", nil).run()
	for i := 1; i <= 15; i++ {
		require.Nil(t, s.answer(graph.Answer{Input: raw(`"x"`), Via: "signal"}))
		require.True(t, s.m.Paused())
		require.Equal(t, i, s.m.Checkpoint().Rejected.Count)
	}
	require.Len(t, s.m.Checkpoint().Rejected.Last, 10, "a run remembers the last few")
	require.Nil(t, s.answer(graph.Answer{Input: raw(`"unchecked"`), Checked: true}), "the driver has checked it")
	require.Equal(t, `"unchecked"`, string(s.m.Outcome().Output))
}

// The ledger of answers keeps a bounded number; an older pause is still known
// to be closed, for its visit is in the past.
func TestLedgerIsBounded(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: p
nodes:
  - {id: p, type: pause, next: p}
`, "", nil).run()
	for range 250 {
		require.Nil(t, s.m.Answer(s.now, graph.Answer{Input: raw(`1`)}))
		s.m.Advance(s.now, graph.Undecided{})
	}
	require.Len(t, s.m.Checkpoint().Answers, 200)
	require.Equal(t, "pause_closed", s.m.Judge(graph.Answer{PauseID: "p#1", Input: raw(`1`)}).Type)
	require.Equal(t, "unknown_pause", s.m.Judge(graph.Answer{PauseID: "p#252", Input: raw(`1`)}).Type)
}

// twoPauses is a machine with two pauses open. A linear run has one at a time,
// so it is made of a checkpoint.
func twoPauses(t *testing.T) *graph.Machine {
	t.Helper()
	s := tell(t, `entry: p
nodes:
  - {id: p, type: pause, next: s}
  - {id: q, type: pause, next: s}
  - {id: s, run: act, next: end}
`, "", nil).run()
	cp := s.m.Checkpoint()
	second := cp.Activations[0]
	pause := *second.Pause
	pause.ID = "q#1"
	second.Node, second.Address, second.Pause = "q", "q#1", &pause
	cp.Activations = append(cp.Activations, second)
	cp.Nodes = append(cp.Nodes, graph.NodeRecord{Node: "q", Visits: 1, Status: graph.NodePaused})
	m, failure := graph.Restore(s.compiled.Plan, cp, s.start)
	require.Nil(t, failure)
	return m
}

// B5, B14, B17: with several pauses open an answer must name one.
func TestSeveralPausesOpen(t *testing.T) {
	t.Parallel()
	m := twoPauses(t)
	require.True(t, m.Paused())
	ambiguous := m.Judge(graph.Answer{Input: raw(`1`)})
	require.Equal(t, "pause_ambiguous", ambiguous.Type)
	require.Contains(t, ambiguous.Message, "p#1, q#1", "it says which there are")
	require.Nil(t, m.Answer(noon, graph.Answer{PauseID: "q#1", Input: raw(`1`)}))
	m.Advance(noon, graph.Undecided{})
	require.Len(t, m.Pauses(), 1)
	require.Equal(t, graph.Address("p#1"), m.Pauses()[0].ID, "only the one that was named is answered")
}

// What a pause shows: evaluated, cut, bounded.
func TestWhatPausesShow(t *testing.T) {
	t.Parallel()
	show := func(fields, input string) *story { return tell(t, pauseNode(fields), input, nil).run() }

	p := show(`summary: "Order ${ input.id } <${ state.who }>", show: {items: "${ input.items }"}, reason: look, `,
		`{"id":7,"who":{"b":1,"a":2},"items":[1,"<"]}`).m.Pauses()[0]
	require.Equal(t, `Order 7 <{"a":2,"b":1}>`, p.Summary)
	require.Equal(t, raw(`{"items":[1,"<"]}`), p.Show)
	require.Equal(t, "look", p.Reason)
	require.Len(t, p.Digest, 64)

	plain := show("", "").m.Pauses()[0]
	require.Equal(t, "pause", plain.Reason)
	require.NotEqual(t, plain.Digest, p.Digest)

	long := show(`summary: "${ input.text }", `, `{"text":"`+strings.Repeat("é", 4000)+`"}`).m.Pauses()[0]
	require.Equal(t, strings.Repeat("é", 2048), long.Summary, "cut at a character")

	wide := show(`show: "${ input.text }", `, `{"text":"`+strings.Repeat("x", 3000)+`"}`)
	require.Equal(t, "output_too_large", wide.m.Outcome().Failure.Type)

	broken := show(`summary: "${ input.none }", `, "")
	require.Equal(t, "expression_failed", broken.m.Outcome().Failure.Type)
}

// B27: silence is an outcome with a way of its own, never an answer.
func TestPauseExpires(t *testing.T) {
	t.Parallel()
	const hour = `expires: 1h, `
	expired := func(t *testing.T, s *story) {
		t.Helper()
		require.Equal(t, []graph.AnswerRecord{{PauseID: "p#1", Closed: graph.ClosedExpired, At: noon.Add(time.Hour)}}, s.m.Checkpoint().Answers)
		require.Equal(t, "pause_closed", s.m.Judge(graph.Answer{PauseID: "p#1", Input: raw(`1`)}).Type)
	}
	for _, restores := range []bool{false, true} {
		restoring := func(s *story) { s.restores = restores }
		s := tell(t, pauseNode(hour+`on_expire: late, `), `{"k":1}`, nil, restoring).run()
		require.Equal(t, noon.Add(time.Hour), *s.m.Pauses()[0].Expires)
		s.sleep(59 * time.Minute)
		require.True(t, s.m.Paused())
		s.sleep(2 * time.Minute)
		require.Equal(t, `["late",{"k":1}]`, string(s.m.Outcome().Output), "on_expire gets the pause's input")
		expired(t, s)

		s = tell(t, pauseNode(hour), "", nil, restoring).run().sleep(time.Hour)
		require.Equal(t, "pause_expired", s.m.Outcome().Failure.Type)
		require.Equal(t, graph.Address("p#1"), s.m.Outcome().Failure.Address)
		expired(t, s)

		s = tell(t, pauseNode(hour+`on_error: s, `), "", nil, restoring).run().sleep(time.Hour)
		require.Equal(t, graph.StatusCompleted, s.m.Status(), "without on_expire it is a failure of the node")

		s = tell(t, pauseNode(hour), "", nil, restoring).run().sleep(30 * time.Minute)
		require.Nil(t, s.answer(graph.Answer{Input: raw(`1`)}))
		require.Equal(t, `1`, string(s.m.Outcome().Output))

		s = tell(t, approval, "", plays{"ask": {pauses(graph.PauseRequest{Expires: graph.Duration(time.Minute)})}}, restoring).run()
		s.sleep(time.Minute)
		require.Equal(t, "pause_expired", s.m.Outcome().Failure.Type, "an action's pause expires as well")
	}
}

// An answer and the expiry in one workflow task: what came first counts, even
// when the answer has still to be checked. A late answer is refused and said
// to be closed, not forgotten.
func TestAnswerMeetsExpiry(t *testing.T) {
	t.Parallel()
	begin := func() *story {
		s := tell(t, pauseNode(`resume_schema: {type: integer}, expires: 1h, on_expire: late, `), "", nil).run()
		s.now = s.now.Add(time.Hour)
		s.timers = nil
		return s
	}
	tellAll := func(s *story, inputs ...string) {
		for _, input := range inputs {
			require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: "p#1", Input: raw(input), Via: "signal"}))
		}
		s.m.Fire(s.now, "p#1")
		s.restores = true
		s.restore()
		s.advance()
	}
	s := begin()
	tellAll(s, `"x"`, `2`)
	require.Equal(t, `2`, string(s.m.Outcome().Output))
	require.Equal(t, graph.ClosedAnswered, s.m.Checkpoint().Answers[0].Closed)

	s = begin()
	tellAll(s, `"x"`)
	require.Equal(t, `["late",{}]`, string(s.m.Outcome().Output))
	require.Equal(t, graph.ClosedExpired, s.m.Checkpoint().Answers[0].Closed)
	require.Equal(t, 1, s.m.Checkpoint().Rejected.Count)

	s = begin()
	s.m.Fire(s.now, "p#1")
	require.Equal(t, "pause_closed", s.m.Judge(graph.Answer{PauseID: "p#1", Input: raw(`2`)}).Type)

	s = begin()
	require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: "p#1", Input: raw(`2`), Via: "signal"}))
	s.m.Cancel(s.now, "")
	require.Equal(t, 1, s.m.Checkpoint().Rejected.Count, "an answer that a cancel overtakes is seen to be refused")
	require.Equal(t, graph.ClosedCancelled, s.m.Checkpoint().Answers[0].Closed)
	require.Empty(t, s.m.Checkpoint().Activations[0].Offered)
}

// What a paused run shows.
func TestPausedReport(t *testing.T) {
	t.Parallel()
	s := tell(t, pauseNode(`summary: hello, expires: 1h, `), `{"k":1}`, nil).run()
	report := s.m.Report()
	require.Equal(t, graph.StatusPaused, report.Status)
	require.JSONEq(t, `{"k":1}`, string(report.State))
	require.Len(t, report.Pauses, 1)
	require.Equal(t, graph.Address("p#1"), report.Pauses[0].ID)
	require.Equal(t, "w", report.Pauses[0].WorkflowID)
	var shown map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text(t, report)), &shown))
	for _, key := range []string{"id", "run_id", "graph", "fingerprint", "status", "output", "state", "error", "pauses", "waiting", "steps", "started", "finished", "deadline"} {
		require.Contains(t, shown, key)
	}
}
