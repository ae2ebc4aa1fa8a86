package workflows_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// asking is a graph whose child asks; the schema and what else the pause has are
// given.
func asking(id, pause string) string {
	return nested(id, "", `
        - {id: first, run: act, args: {output: "child-intermediate"}, next: ask}
        - {id: ask, type: pause, reason: approval, summary: "${ input }"`+pause+`, next: last}
        - {id: last, run: act, args: {output: {answer: "${ input }"}}, next: end}`)
}

const approvedSchema = `, resume_schema: {type: object, required: [approved], properties: {approved: {type: boolean}}}`

// refusedAs is the error type with which an update was refused.
func refusedAs(tb testing.TB, err error) string {
	tb.Helper()
	refused := new(temporal.ApplicationError)
	require.ErrorAs(tb, err, &refused)
	return refused.Type()
}

// Row 102: a pause of a child is listed by the run above with the id it has in the
// child, and answered there; what the child did before is not done again.
func TestChildPauseAnsweredAbove(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{register: acts.register, graphs: []string{asking("above", approvedSchema)}})
	want := `{"result":{"answer":{"approved":true}},"state":{"kept":1,"seen":1}}`
	approve := map[string]bool{"approved": true}
	for name, answer := range map[string]func(run, child client.WorkflowRun){
		"update": func(run, _ client.WorkflowRun) {
			result, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`{"approved":true}`), Actor: "ann", Note: "fine"})
			require.NoError(t, err)
			require.Equal(t, graph.Address("sub#1/ask#1"), result.PauseID)
		},
		"signal":    func(run, _ client.WorkflowRun) { w.signal(run, workflows.SignalResume, approve) },
		"addressed": func(run, _ client.WorkflowRun) { w.signal(run, "resume:sub#1/ask#1", approve) },
		"at the child": func(_, child client.WorkflowRun) {
			_, err := w.resume(child, workflows.ResumeInput{PauseID: "sub#1/ask#1", Input: json.RawMessage(`{"approved":true}`)})
			require.NoError(t, err)
		},
	} {
		run := w.run("above")
		report := w.paused(run)
		child := w.child(run, "sub#1")
		require.Len(t, report.Pauses, 1, name)
		require.Equal(t, graph.Address("sub#1/ask#1"), report.Pauses[0].ID)
		require.Equal(t, child.GetID(), report.Pauses[0].WorkflowID)
		require.Equal(t, "child-intermediate", report.Pauses[0].Summary)
		require.Equal(t, w.paused(child).Pauses, report.Pauses, "both tell the same")
		require.Contains(t, w.details(run), "| sub#1 | running | 1 | its child, which is paused: ")
		require.Contains(t, w.details(run), "--workflow-id '"+child.GetID()+"' --name 'resume:sub#1/ask#1'")

		answer(run, child)
		require.JSONEq(t, want, w.output(run), name)
		require.Equal(t, []string{"sub#1/first#1", "sub#1/last#1"}, acts.called(child.GetID()), name)
		if name == "update" {
			for _, r := range []client.WorkflowRun{run, child} {
				answers := w.checkpoint(r).Answers
				require.Len(t, answers, 1)
				require.Equal(t, graph.ClosedAnswered, answers[0].Closed)
				require.Equal(t, "ann", answers[0].Actor)
				require.Equal(t, "fine", answers[0].Note)
				require.Equal(t, "update", answers[0].Via)
			}
		}
	}
}

// What the run above can see to be wrong never reaches the child; what only the
// child can judge comes back as its word, and leaves the pause open.
func TestChildPauseRefusals(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{asking("above", approvedSchema)}})
	run := w.run("above")
	report := w.paused(run)
	child := w.child(run, "sub#1")
	for want, in := range map[string]workflows.ResumeInput{
		graph.ErrTypeUnknownPause:        {PauseID: "sub#1/ask#2", Input: json.RawMessage(`{"approved":true}`)},
		graph.ErrTypePauseDigestMismatch: {Digest: "other", Input: json.RawMessage(`{"approved":true}`)},
		graph.ErrTypeInvalidResumeInput:  {Input: json.RawMessage(`{"approved":1}`)},
	} {
		_, err := w.resume(run, in)
		require.Equal(t, want, refusedAs(t, err))
	}
	require.Zero(t, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED))

	// A signal is not held against the schema before it is taken.
	w.signal(run, workflows.SignalResume, map[string]int{"approved": 1})
	for _, r := range []client.WorkflowRun{run, child} {
		rejected := w.until(r, "the refusal", func(r graph.Report) bool { return r.Rejected.Count == 1 && r.Status == graph.StatusPaused })
		require.Equal(t, graph.ErrTypeInvalidResumeInput, rejected.Rejected.Last[0].Type)
		require.Equal(t, "sub#1/ask#1", rejected.Rejected.Last[0].PauseID)
	}
	_, err := w.resume(run, workflows.ResumeInput{Digest: report.Pauses[0].Digest, Input: json.RawMessage(`{"approved":false}`)})
	require.NoError(t, err)
	require.Contains(t, w.output(run), `"answer":{"approved":false}`)
}

// Of answers above and at the child one wins, and the others hear that they came
// too late; none is used twice and none is lost without a word.
func TestChildPauseHasOneWinner(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{asking("above", "")}})
	run := w.run("above")
	w.paused(run)
	child := w.child(run, "sub#1")
	at := []client.WorkflowRun{run, child, run, child, run}
	errs := make([]error, len(at))
	var group sync.WaitGroup
	for i, r := range at {
		group.Go(func() {
			_, errs[i] = w.resume(r, workflows.ResumeInput{PauseID: "sub#1/ask#1", Input: json.RawMessage(`1`)})
		})
	}
	group.Wait()
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
			continue
		}
		if refused := new(temporal.ApplicationError); errors.As(err, &refused) {
			require.Equal(t, graph.ErrTypePauseClosed, refused.Type(), refused.Message())
		} else {
			require.ErrorContains(t, err, "workflow execution already completed") // the server's word on a closed run
		}
	}
	require.Equal(t, 1, taken, "%v", errs)
	require.Contains(t, w.output(run), `"answer":1`)
}

// A pause three levels down has one id, and is answered at each level.
func TestPauseThreeLevelsDown(t *testing.T) {
	t.Parallel()
	deep := nested("deep", "", `
        - id: first
          type: workflow
          workflow:
            version: 1
            id: innermost
            entry: ask
            nodes: [{id: ask, type: pause, next: done}, {id: done, type: set, output: "${ input }", next: end}]
          next: end`)
	w := setup(t, parts{graphs: []string{deep}})
	for level := range 3 {
		run := w.run("deep")
		report := w.paused(run)
		runs := []client.WorkflowRun{run, w.child(run, "sub#1"), w.child(run, "sub#1/first#1")}
		require.Equal(t, graph.Address("sub#1/first#1/ask#1"), report.Pauses[0].ID)
		require.Equal(t, runs[2].GetID(), report.Pauses[0].WorkflowID)
		for _, r := range runs {
			require.Equal(t, report.Pauses, w.paused(r).Pauses)
		}
		_, err := w.resume(runs[level], workflows.ResumeInput{Input: json.RawMessage(`"yes"`)})
		require.NoError(t, err)
		require.JSONEq(t, `{"result":"yes","state":{"kept":1,"seen":1}}`, w.output(run))
	}
}

// Row 105: a child that asks inside a fork lets its siblings go on, and the fork
// waits for it.
func TestChildPauseInAFork(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{register: acts.register, graphs: []string{`
version: 1
id: forking
entry: fork
nodes:
  - {id: fork, type: fork, branches: [nested, other], join: join}
  - id: nested
    type: workflow
    workflow:
      version: 1
      id: inner
      entry: before
      nodes:
        - {id: before, run: act, args: {output: 1}, next: approval}
        - {id: approval, type: pause, next: end}
    next: join
  - {id: other, run: act, args: {output: "other"}, next: join}
  - {id: join, type: join, next: end}
`}})
	run := w.run("forking")
	report := w.paused(run)
	require.Equal(t, graph.Address("nested#1/approval#1"), report.Pauses[0].ID)
	require.Equal(t, []string{"other#1"}, acts.called(run.GetID()))
	_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`"yes"`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"nested":1,"other":"other"}`, w.output(run), "a pause's answer is never a run's output")
	require.Equal(t, []string{"nested#1/before#1"}, acts.called(w.child(run, "nested#1").GetID()))
}

// An answer for a pause that closed with its child meanwhile is refused by name, by
// whichever way it came, and never lost without a word.
func TestAnswerForAChildThatHasClosed(t *testing.T) {
	t.Parallel()
	documents := parts{register: newScript().register, graphs: []string{asking("above", "")}}
	w := setup(t, documents)
	run := w.run("above")
	w.paused(run)
	w.worker.Stop() // so that the next task finds both
	child := w.child(run, "sub#1")
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), child.GetID(), child.GetRunID(), "by an operator"))
	w.signal(run, workflows.SignalResume, 1)
	refused := make(chan error, 1)
	go func() {
		_, err := w.resume(run, workflows.ResumeInput{PauseID: "sub#1/ask#1", Input: json.RawMessage(`1`)})
		refused <- err
	}()
	w.worker = w.start(documents)
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeChildFailed, kind)
	require.Equal(t, "terminated", report.Error.Cause.Type)
	require.NotZero(t, report.Rejected.Count)
	for _, rejected := range report.Rejected.Last {
		require.Equal(t, graph.ErrTypePauseClosed, rejected.Type, rejected.Message)
	}
	require.Error(t, <-refused)
}

// Expiry is the child's to see; the run above goes on from what it led to.
func TestChildPauseExpires(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{asking("expiring", ", expires: 2s, on_expire: last")}})
	run := w.run("expiring")
	report := w.paused(run)
	require.NotNil(t, report.Pauses[0].Expires)
	require.Contains(t, w.output(run), `"answer":"child-intermediate"`)
	require.Empty(t, w.status(run).Pauses)
}

// The clock of a deadline stands still in the whole tree while all of it waits for
// a person: neither the child's nor the parent's may run out meanwhile.
func TestClockStandsStillWhileAChildIsPaused(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{
		"deadline: 5s\n" + asking("still", ""),
	}})
	run := w.run("still")
	report := w.paused(run)
	require.Nil(t, report.Deadline)
	child := w.child(run, "sub#1")
	require.Nil(t, w.paused(child).Deadline)
	temporaltest.Wait(t, 30*time.Second, "more than the deadline to go by", func() bool {
		return time.Since(report.Started) > 7*time.Second
	})
	require.Equal(t, graph.StatusPaused, w.status(run).Status)
	_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`1`)})
	require.NoError(t, err)
	require.Contains(t, w.output(run), `"answer":1`)
}

// The signals between runs are no way for anybody else to break a run: what is no
// report and no answer is refused and counted.
func TestSignalsBetweenRunsFromOutside(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{asking("above", "")}})
	run := w.run("above")
	w.paused(run)
	child := w.child(run, "sub#1")
	foreign := graph.ChildReport{Address: "sub#1", Sequence: 99, Pauses: []graph.OpenPause{{
		Pause: graph.Pause{ID: "other#1/ask#1", Reason: "trap", Digest: "d"}, WorkflowID: "trap",
	}}}
	bad := []any{nil, 5, "text", map[string]int{"x": 1}, []byte{1, 2}, foreign}
	for _, r := range []client.WorkflowRun{run, child} {
		for _, payload := range bad {
			w.signal(r, workflows.SignalChild, payload)
			w.signal(r, workflows.SignalAnswer, payload)
		}
	}
	// A well-formed answer to a run that nobody started is nobody's either.
	w.signal(run, workflows.SignalAnswer, graph.ForwardedAnswer{Request: "1", Answer: graph.Answer{PauseID: "sub#1/ask#1", Input: json.RawMessage(`1`)}})
	w.until(run, "the refusals", func(r graph.Report) bool { return r.Rejected.Count == 2*len(bad)+1 })
	w.until(child, "the refusals", func(r graph.Report) bool { return r.Rejected.Count == 2*len(bad) })
	require.Len(t, w.status(run).Pauses, 1)

	// A report of a child that the run does not have changes nothing.
	w.signal(run, workflows.SignalChild, graph.ChildReport{Address: "sub#7", Sequence: 1, Paused: true})
	_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`1`)})
	require.NoError(t, err)
	require.Contains(t, w.output(run), `"answer":1`)
}

// An answer that is handed over twice is used once, and both times the same is
// said of it.
func TestForwardedAnswerTwice(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{nested("twice", "", `
        - {id: first, type: pause, next: second}
        - {id: second, type: pause, next: end}`)}})
	run := w.run("twice")
	w.until(run, "the first pause", pausedAt("sub#1/first#1"))
	child := w.child(run, "sub#1")
	handed := graph.ForwardedAnswer{Request: "7", Answer: graph.Answer{PauseID: "sub#1/first#1", Input: json.RawMessage(`1`), Via: "signal"}}
	w.signal(child, workflows.SignalAnswer, handed)
	w.until(run, "the second pause", pausedAt("sub#1/second#1"))
	w.signal(child, workflows.SignalAnswer, handed)
	temporaltest.Wait(t, 30*time.Second, "the same reply", func() bool {
		return temporaltest.Count(w.history(child), enumspb.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED) == 3
	})
	require.Zero(t, w.status(child).Rejected.Count)
	w.signal(run, workflows.SignalResume, 2)
	w.output(run)
}
