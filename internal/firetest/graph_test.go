package firetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// single is a graph of one node, which needs the agent a, and an ending of its own for
// the error of the node.
func single(id, more string) string {
	return fmt.Sprintf(`
version: 1
id: %s
entry: a
nodes:
  - {id: a, run: play, args: {name: "${ input.name }", hold: "${ input.hold }", fails: "${ input.fails }"}, %snext: end}
  - {id: failed, type: set, output: "${ input.type }", next: end}
`, id, more)
}

func playing(name string) map[string]any {
	return map[string]any{"name": name, "hold": false, "fails": 0}
}

func holding(name string) map[string]any {
	return map[string]any{"name": name, "hold": true, "fails": 0}
}

// ofOne gives each of the agents one permit.
func ofOne(agents ...string) tidemill.AdmissionLimits {
	limits := tidemill.AdmissionLimits{Overflow: admission.OverflowQueue}
	for _, name := range agents {
		limits.Agents = append(limits.Agents, admission.KeyLimit{Key: name, Limit: 1})
	}
	return limits
}

// Issue 4, denial shows in status: a run that waits says what for and when it is
// looked at next, and goes on when the permit comes. A reject fails, and on_error
// takes it.
func TestGraphWaitsForItsPermit(t *testing.T) {
	t.Parallel()
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{single("queues", ""), single("rejects", "overflow: reject, on_error: failed, ")}})
	first := h.start("queues", holding("first"))
	h.stage.plays(t, "first", 1)
	second := h.start("queues", playing("second"))
	seen := h.waits(second)
	require.NotNil(t, seen.Waiting[0].NextCheck)
	require.Equal(t, tidemill.StatusRunning, seen.Status)
	rejected := h.ends(h.start("rejects", playing("third")), tidemill.StatusCompleted)
	require.JSONEq(t, `"concurrency_limit_reached"`, string(rejected.Output))
	require.Zero(t, h.stage.begun("second")+h.stage.begun("third"))
	h.holds(1, 1)

	h.stage.let("first")
	h.ends(first, tidemill.StatusCompleted)
	h.ends(second, tidemill.StatusCompleted)
	h.holds(0, 0)
}

// A queue_timeout ends the wait with its own error, and takes the request back.
func TestGraphQueueTimeout(t *testing.T) {
	t.Parallel()
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{single("queues", ""), single("impatient", "queue_timeout: 2s, on_error: failed, ")}})
	first := h.start("queues", holding("first"))
	h.stage.plays(t, "first", 1)
	report := h.ends(h.start("impatient", playing("second")), tidemill.StatusCompleted)
	require.JSONEq(t, `"queue_deadline_exceeded"`, string(report.Output))
	h.holds(1, 0)
	h.stage.let("first")
	h.ends(first, tidemill.StatusCompleted)
	require.Zero(t, h.stage.begun("second"))
}

// Fault 56: a lock that is kept through a retry's backoff. A wait of a second or more
// holds no permit, so another run gets it meanwhile; a shorter one keeps it.
func TestGraphBackoff(t *testing.T) {
	t.Parallel()
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{
		single("queues", ""),
		single("sleepy", "retry: {max_attempts: 2, backoff: 8s}, "),
		single("brisk", "retry: {max_attempts: 5, backoff: 400ms, coefficient: 1}, "),
	}})
	sleepy := h.start("sleepy", map[string]any{"name": "sleepy", "hold": false, "fails": 1})
	temporaltest.Wait(t, patience, "the first attempt", func() bool { return h.stage.begun("sleepy") == 1 })
	between := h.start("queues", holding("between"))
	h.stage.plays(t, "between", 1)
	require.Equal(t, 1, h.stage.begun("sleepy"), "the other had the permit during the backoff")
	h.waits(sleepy) // it asks again, and the other holds it
	h.stage.let("between")
	h.ends(between, tidemill.StatusCompleted)
	h.ends(sleepy, tidemill.StatusCompleted)
	require.Equal(t, 2, h.stage.begun("sleepy"))

	before := h.holds(0, 0).Grants
	h.ends(h.start("brisk", map[string]any{"name": "brisk", "hold": false, "fails": 4}), tidemill.StatusCompleted)
	require.Equal(t, 5, h.stage.begun("brisk"))
	require.Less(t, h.holds(0, 0).Grants, before+5, "five attempts under one permit")
}

// Branches of a fork and items of a map each hold a permit of their own.
func TestGraphPermitsOfParts(t *testing.T) {
	t.Parallel()
	limits := tidemill.AdmissionLimits{Overflow: admission.OverflowQueue, Agents: []admission.KeyLimit{{Key: "each", Limit: 2}, {Key: "a", Limit: 1}}}
	h := open(t, hallParts{limits: limits, graphs: []string{`
version: 1
id: forked
entry: f
nodes:
  - {id: f, type: fork, branches: [a, b], join: j}
  - {id: a, run: play, args: {name: part, hold: true}, next: j}
  - {id: b, run: play, args: {name: part, hold: true}, next: j}
  - {id: j, type: join, next: end}
`, `
version: 1
id: mapped
entry: each
nodes:
  - {id: each, type: map, items: [1, 2, 3], item: {run: play, args: {name: item, hold: true}}, next: end}
`}})
	forked := h.start("forked", nil)
	h.stage.plays(t, "part", 2)
	h.holds(2, 0)
	mapped := h.start("mapped", nil)
	h.stage.plays(t, "item", 2)
	h.holds(4, 1)
	h.stage.let("part")
	h.stage.let("item")
	h.ends(forked, tidemill.StatusCompleted)
	h.ends(mapped, tidemill.StatusCompleted)
	h.holds(0, 0)
}

// A local action and an activity of another SDK need permits like any other.
func TestGraphOtherActivities(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	elsewhere := server.TaskQueue(t)
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{
		single("queues", ""),
		single("locally", "mode: local, idempotent: true, timeout: 1s, "),
		"version: 1\nid: abroad\nentry: a\nnodes:\n  - {id: a, run: {activity: Ship, task_queue: " + elsewhere + "}, timeout: 1m, next: end}\n",
	}})
	server.Worker(t, h.client, elsewhere, worker.Options{}, func(r worker.Registry) {
		r.RegisterActivityWithOptions(func() (string, error) { return "shipped", nil }, activity.RegisterOptions{Name: "Ship"})
	})
	first := h.start("queues", holding("first"))
	h.stage.plays(t, "first", 1)
	locally, abroad := h.start("locally", playing("locally")), h.start("abroad", nil)
	h.waits(locally)
	h.waits(abroad)
	require.Zero(t, h.stage.begun("locally"))
	require.NotContains(t, h.events(abroad), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
	h.stage.let("first")
	for _, id := range []string{first, locally, abroad} {
		h.ends(id, tidemill.StatusCompleted)
	}
	require.Contains(t, h.events(abroad), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
	h.holds(0, 0)
}

// An action that waits for a person holds nothing while the person thinks.
func TestGraphPauseGivesBack(t *testing.T) {
	t.Parallel()
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{single("queues", ""), `
version: 1
id: asks
entry: a
nodes:
  - {id: a, run: play, args: {name: asks, pause: true}, next: end}
`}})
	asks := h.start("asks", nil)
	temporaltest.Wait(t, patience, "the pause", func() bool { return len(h.report(asks).Pauses) == 1 })
	h.holds(0, 0)
	h.ends(h.start("queues", playing("other")), tidemill.StatusCompleted)
	_, err := h.runs.Resume(t.Context(), asks, tidemill.ResumeOptions{Input: true, Actor: "ann", Wait: patience})
	require.NoError(t, err)
	h.ends(asks, tidemill.StatusCompleted)
	h.holds(0, 0)
}

// A run that is cancelled, or whose deadline passes, while it waits for a permit or
// while it holds one, leaves neither a place in the queue nor a permit behind.
func TestGraphEndsWhileItWaits(t *testing.T) {
	t.Parallel()
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{single("queues", "")}})
	first := h.start("queues", holding("first"))
	h.stage.plays(t, "first", 1)
	cancelled := h.start("queues", playing("second"))
	h.waits(cancelled)
	h.cancel(cancelled)
	h.ends(cancelled, tidemill.StatusCancelled)
	h.holds(1, 0)
	late := h.startWith(tidemill.StartOptions{Graph: "queues", Input: playing("third"), Deadline: 2 * time.Second})
	h.ends(late, tidemill.StatusTimedOut)
	h.holds(1, 0)
	h.cancel(first)
	h.ends(first, tidemill.StatusCancelled)
	h.holds(0, 0)
	require.Zero(t, h.stage.begun("second")+h.stage.begun("third"))
}

// Performance, "no extra workflow task": admission that is free costs one event a
// node, the answer, and nothing where it is not turned on: the attempt gives back itself.
func TestGraphEventsUnderAdmission(t *testing.T) {
	t.Parallel()
	parts := hallParts{limits: ofOne("a"), graphs: []string{single("queues", "")}}
	h := open(t, parts)
	without := parts
	without.edit = func(_ *hall, o *tidemill.WorkerOptions) { o.Admission = nil }
	plain := open(t, without)
	with, none := h.start("queues", playing("x")), plain.start("queues", playing("x"))
	h.ends(with, tidemill.StatusCompleted)
	plain.ends(none, tidemill.StatusCompleted)
	require.Equal(t, names(plain.events(none)), names(leftOut(h.events(with), enumspb.EVENT_TYPE_MARKER_RECORDED, 1)))
	require.Empty(t, chain(t, plain.client, plain.book()), "nobody was asked for anything")
	require.Equal(t, []string{
		"WorkflowExecutionStarted", "WorkflowTaskScheduled", "WorkflowTaskStarted", "WorkflowTaskCompleted", "MarkerRecorded",
		"ActivityTaskScheduled", "ActivityTaskStarted", "ActivityTaskCompleted", "WorkflowTaskScheduled",
		"WorkflowTaskStarted", "WorkflowTaskCompleted", "WorkflowExecutionCompleted",
	}, names(plain.events(none)), "event for event as before admission")
}

// leftOut leaves out so many events of a type, the last ones.
func leftOut(types []enumspb.EventType, kind enumspb.EventType, n int) (list []enumspb.EventType) {
	for _, other := range slices.Backward(types) {
		if other == kind && n > 0 {
			n--
			continue
		}
		list = append(list, other)
	}
	slices.Reverse(list)
	return list
}

// names are the types of events in words that a diff shows.
func names(types []enumspb.EventType) (list []string) {
	for _, kind := range types {
		list = append(list, strings.TrimPrefix(kind.String(), "EVENT_TYPE_"))
	}
	return list
}
