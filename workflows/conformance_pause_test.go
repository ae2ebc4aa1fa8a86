package workflows_test

import (
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// pauseScenarios are the numbered rules of pauses, cancels and checkpoints.
func pauseScenarios() []scenario {
	return []scenario{
		{
			name: "row 74, a pause's answer routes; its node is called once",
			nodes: `
  - id: a
    run: act
    args: {control: pause, delta: {asked: true}}
    next: {cases: [{when: "input.approved", to: accepted}], default: rejected}
  - {id: accepted, run: act, args: {output: accepted}, next: end}
  - {id: rejected, run: act, args: {output: rejected}, next: end}`,
			answer: `{"approved":true}`,
			output: `"accepted"`, state: `{"asked":true}`, calls: []string{"a#1", "accepted#1"},
		},
		{
			name:   "row 77, an answer is no output by itself",
			nodes:  `[{id: a, type: pause, next: end}]`,
			input:  `{"count":1}`,
			answer: `{"yes":true}`,
			output: `{"count":1}`, calls: []string{},
		},
		{
			name:   "row 79, a pause is no failure to be tried again",
			nodes:  `[{id: a, run: act, args: {control: pause}, retry: {max_attempts: 3}, next: b}, {id: b, type: set, output: "${ input }", next: end}]`,
			answer: `[1]`,
			output: `[1]`, calls: []string{"a#1"},
		},
		{
			// A callback of the same name asks without a delta; here a pause is a result.
			name:  "row 78, a pause without a delta",
			nodes: `[{id: a, run: act, args: {control: pause, reason: why, summary: because}, next: b}, {id: b, type: set, output: "${ [input] }", next: end}]`,
			drive: func(w *world, run client.WorkflowRun) {
				pause := w.paused(run).Pauses[0]
				require.Equal(w.tb, "why because", pause.Reason+" "+pause.Summary)
			},
			answer: `7`,
			output: `[7]`, state: `{}`, calls: []string{"a#1"},
		},
		{
			name: "row 75, an answer that cannot be taken leaves the pause open",
			nodes: `
  - {id: a, type: pause, resume_schema: {type: integer}, next: b}
  - {id: b, type: set, output: "${ input }", next: end}`,
			drive: func(w *world, run client.WorkflowRun) {
				w.paused(run)
				w.signal(run, workflows.SignalResume, []byte{0xff})
				w.signal(run, workflows.SignalResume, "seven")
				_, err := w.update(run, "", map[string]any{"pause_id": "a#1"})
				require.Equal(w.tb, graph.ErrTypeResumeInputRequired, refusalType(w.tb, err))
				w.until(run, "both refusals", func(r graph.Report) bool { return r.Rejected.Count == 2 && r.Status == graph.StatusPaused })
			},
			answer: `7`,
			output: `7`, steps: 2,
		},
		{
			name: "row 93, a paused run says so, and its id is the workflow's",
			nodes: `
  - {id: a, run: act, args: {control: pause, delta: {id: "${ run.id }", key: "${ run.key }"}}, next: b}
  - {id: b, type: set, output: "${ run.id == state.id }", next: end}`,
			drive: func(w *world, run client.WorkflowRun) {
				report := w.paused(run)
				require.JSONEq(w.tb, `{"id":"`+run.GetID()+`","key":"`+run.GetRunID()+`/a#1"}`, string(report.State))
				require.Nil(w.tb, report.Finished)
				require.Equal(w.tb, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, w.closed(run))
			},
			answer: `1`,
			output: `true`, calls: []string{"a#1"},
		},
		{
			name:  "row 98, what the checkpoint of a paused run holds",
			nodes: `[{id: a, type: pause, summary: look, next: b}, {id: b, type: set, output: "${ input }", next: end}]`,
			drive: func(w *world, run client.WorkflowRun) {
				pause, cp := w.paused(run).Pauses[0], w.checkpoint(run)
				require.Regexp(w.tb, "^[0-9a-f]{64}$", cp.Fingerprint)
				require.Equal(w.tb, run.GetRunID(), cp.Lineage)
				require.Equal(w.tb, graph.NodePaused, cp.Nodes[0].Status)
				require.Equal(w.tb, graph.PhasePaused, cp.Activations[0].Phase)
				require.Equal(w.tb, pause.Digest, cp.Activations[0].Pause.Digest)
			},
			answer: `1`,
			output: `1`,
		},
		{
			// In the reference a paused run is over and cannot be cancelled; here it is open.
			name:  "row 89, a paused run can be cancelled",
			nodes: `[{id: a, run: act, args: {control: pause, delta: {a: 1}}, next: b}, {id: b, run: act, next: end}]`,
			drive: func(w *world, run client.WorkflowRun) {
				w.paused(run)
				w.cancel(run)
			},
			failure: graph.ErrTypeCancelled, state: `{"a":1}`, steps: 1, calls: []string{"a#1"},
		},
		{
			name: "row 86, a cancel in the second step keeps the first",
			nodes: `
  - {id: a, run: act, args: {output: A, delta: {a: 1}}, next: b}
  - {id: b, run: beat, next: end}`,
			drive:   cancelOnceActive,
			failure: graph.ErrTypeCancelled + "/" + graph.ErrTypeCancelled, state: `{"a":1}`, steps: 2, calls: []string{"a#1"},
			verify: func(w *world, run client.WorkflowRun) {
				stopped := w.checkpoint(run).Activations
				require.Len(w.tb, stopped, 1)
				require.Equal(w.tb, graph.Address("b#1"), stopped[0].Address)
				require.Equal(w.tb, `"A"`, string(stopped[0].Input), "what it was given is kept with it")
			},
		},
		{
			name:  "row 92, a cancelled run's checkpoint is the one that was seen before it closed",
			nodes: `[{id: a, type: set, delta: {a: 1}, next: b}, {id: b, type: wait, for: 1h, next: end}]`,
			drive: func(w *world, run client.WorkflowRun) {
				w.when(run, "the wait", reports(func(r graph.Report) bool { return len(r.Waiting) == 1 }))
				before := w.checkpoint(run)
				w.cancel(run)
				w.failure(run)
				after := w.checkpoint(run)
				require.Equal(w.tb, before.State, after.State)
				require.Equal(w.tb, before.Steps, after.Steps)
				require.Equal(w.tb, before.Activations[0].Address, after.Activations[0].Address)
			},
			failure: graph.ErrTypeCancelled, state: `{"a":1}`, steps: 2,
		},
	}
}
