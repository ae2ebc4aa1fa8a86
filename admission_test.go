package tidemill_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	temporalsdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// A worker must not start under limits or rules that mean something else than they
// say; everything that is wrong is told at once.
func TestAdmissionOptions(t *testing.T) {
	t.Parallel()
	classify := func(tidemill.Facts) (tidemill.Class, error) { return tidemill.Class{}, nil }
	own := struct{ tidemill.Admitter }{}
	key := func(k string) []tidemill.AdmissionUnits { return []tidemill.AdmissionUnits{{Key: k}} }
	rules := func(r ...tidemill.AdmissionRule) tidemill.AdmissionRules { return tidemill.AdmissionRules{Rules: r} }
	limits := tidemill.AdmissionLimits{Keys: []admission.KeyLimit{{Key: "resource:*", Limit: 3}}}
	for _, test := range []struct {
		name    string
		options tidemill.AdmissionOptions
		want    []string // nothing: valid
	}{
		{name: "nothing"},
		{name: "all", options: tidemill.AdmissionOptions{
			Limits: limits, MaxConcurrent: 2,
			Domains: []tidemill.AdmissionDomain{{Name: "batch", Limits: tidemill.AdmissionLimits{Global: 4}}},
			Rules:   rules(tidemill.AdmissionRule{When: "graph == 'b'", Domain: "batch", Agent: "b"}, tidemill.AdmissionRule{Keys: key("resource:a")}),
		}},
		{name: "code", options: tidemill.AdmissionOptions{
			Limits: limits, Classify: classify,
			Rules: tidemill.AdmissionRules{Partition: tidemill.AdmissionPartition{From: "${ run.lane.app }", Known: []string{"acme"}}},
		}},
		{name: "another admitter", options: tidemill.AdmissionOptions{Admitter: own, Rules: rules(tidemill.AdmissionRule{Domain: "its-own", Keys: key("x")})}},
		{"one slot", tidemill.AdmissionOptions{MaxConcurrent: 1}, []string{"MaxConcurrent is 1; give at least 2"}},
		{"rules and code", tidemill.AdmissionOptions{Classify: classify, Rules: rules(tidemill.AdmissionRule{})}, []string{"Classify and Rules.Rules are both set"}},
		{"a wrong partition beside code", tidemill.AdmissionOptions{
			Classify: classify, Rules: tidemill.AdmissionRules{Partition: tidemill.AdmissionPartition{From: "${ x }", Known: []string{"a"}}},
		}, []string{"there is no name x"}},
		{"limits that nobody reads", tidemill.AdmissionOptions{Admitter: own, Limits: limits}, []string{"Limits and Domains bind nothing"}},
		{"domains that nobody reads", tidemill.AdmissionOptions{Admitter: own, Domains: []tidemill.AdmissionDomain{{Name: "a"}}}, []string{"Limits and Domains bind nothing"}},
		{
			"everything at once",
			tidemill.AdmissionOptions{
				Limits: tidemill.AdmissionLimits{Global: -1, Overflow: "drop"}, MaxConcurrent: -1,
				Domains: []tidemill.AdmissionDomain{
					{Name: "a b"}, {Name: "default"}, {Name: "twice"}, {Name: "twice", Limits: tidemill.AdmissionLimits{MaxQueue: 5000}},
				},
				Rules: rules(tidemill.AdmissionRule{When: "nod == 'x'", Keys: key("resource:a")}, tidemill.AdmissionRule{Domain: "elsewhere"}),
			},
			[]string{
				"MaxConcurrent is -1", `domain "default": admission: invalid limits: global: is -1; it must lie between 0 and 1000000`,
				`overflow: is "drop"; write reject or queue`, `domain "a b": permits: "a b" is not the name of a domain`,
				`domain "default": it stands twice`, `domain "twice": it stands twice`,
				`domain "twice": admission: invalid limits: max_queue: is 5000`, "rules[0].when: there is no name nod; did you mean node?",
				`rules[0].keys[0].key: the limits have no "resource:a"`, `rules[1].domain: there are no limits for a domain "elsewhere"`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := tidemill.WorkerOptions{Admission: &test.options}.Validate()
			if len(test.want) == 0 {
				require.NoError(t, err)
			}
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// pollersOf counts who polls a queue.
func pollersOf(t *testing.T, w world, queue string, kind enumspb.TaskQueueType) int {
	t.Helper()
	response, err := w.client.WorkflowService().DescribeTaskQueue(t.Context(), &workflowservice.DescribeTaskQueueRequest{
		Namespace: devserver.DefaultNamespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue}, TaskQueueType: kind,
	})
	require.NoError(t, err)
	return len(response.GetPollers())
}

// Whoever made up keys for every partition and forgot their limit would see runs
// that wait, and nothing that says why.
func TestAdmissionWarnings(t *testing.T) {
	t.Parallel()
	o := tidemill.AdmissionOptions{Rules: tidemill.AdmissionRules{Rules: []tidemill.AdmissionRule{
		{Keys: []tidemill.AdmissionUnits{{Key: "partition:${ partition }"}}},
	}}}
	require.NoError(t, o.Validate())
	require.Len(t, o.Warnings(), 1)
	require.Contains(t, o.Warnings()[0], `rules[0].keys[0].key: the limits have no "partition:${ partition }"`)
	o.Limits.Keys = []admission.KeyLimit{{Key: "partition:*", Limit: 1}}
	require.Empty(t, o.Warnings())
}

// domainOf is a domain that no other test has: a namespace has one book a domain.
func domainOf(w world) string { return w.queue[max(0, len(w.queue)-60):] }

// ask asks the books of a queue for one of two permits of an agent.
func ask(t *testing.T, w world, domain, id string) admission.Decision {
	t.Helper()
	asker, err := permits.NewCombiner(permits.CombinerOptions{
		Client: w.client, TaskQueue: permits.TaskQueue(w.queue), Limits: map[string]admission.Limits{domain: {Global: 2, Overflow: admission.OverflowQueue}},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, asker.Close(context.WithoutCancel(t.Context()))) }()
	request := admission.Request{ID: id, Owner: admission.Owner{Process: "test"}, Agent: "planner"}
	var decision admission.Decision
	temporaltest.Wait(t, within, "an answer", func() bool {
		decision, err = asker.Submit(t.Context(), permits.Ask{Domain: domain, Request: request})
		return err == nil
	})
	return decision
}

// Books that shared a queue with the runs that wait for them would wait for their own
// slots. A worker with admission is two, and stops as one.
func TestWorkerWithAdmission(t *testing.T) {
	t.Parallel()
	w := idle(t)
	w.queue += "-graphs"
	domain := domainOf(w)
	one, err := tidemill.NewWorker(t.Context(), w.client, newApp(), tidemill.WorkerOptions{
		TaskQueue: w.queue, StopGrace: -1, Admission: &tidemill.AdmissionOptions{Domains: []tidemill.AdmissionDomain{{Name: domain}}},
	})
	require.NoError(t, err)
	one.RegisterActivityWithOptions(func() error { return nil }, activity.RegisterOptions{Name: "mine"})
	ended, interrupt := make(chan error, 1), make(chan any)
	go func() { ended <- one.Run(interrupt) }()

	books := permits.TaskQueue(w.queue)
	require.Equal(t, w.queue+".admission", books)
	temporaltest.Wait(t, within, "pollers on both queues", func() bool {
		return pollersOf(t, w, w.queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW) == 1 && pollersOf(t, w, w.queue, enumspb.TASK_QUEUE_TYPE_ACTIVITY) == 1 &&
			pollersOf(t, w, books, enumspb.TASK_QUEUE_TYPE_WORKFLOW) == 1 && pollersOf(t, w, books, enumspb.TASK_QUEUE_TYPE_ACTIVITY) == 1
	})
	require.Equal(t, admission.AnswerGranted, ask(t, w, domain, "first").Answer)
	close(interrupt)
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(within):
		require.FailNow(t, "the worker does not stop")
	}
	one.Stop() // as the SDK's: once more does no harm
}

// A program that makes its workers itself has the books where it wants them.
func TestAdmissionInOwnWorkers(t *testing.T) {
	t.Parallel()
	w := idle(t)
	o := tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1, Admission: &tidemill.AdmissionOptions{}}
	w.server.Worker(t, w.client, w.queue, o.Settings(), func(r worker.Registry) {
		require.NoError(t, newApp().Register(t.Context(), w.client, r, o))
	})
	require.Zero(t, pollersOf(t, w, permits.TaskQueue(w.queue), enumspb.TASK_QUEUE_TYPE_WORKFLOW))
	books, err := tidemill.NewAdmissionWorker(t.Context(), w.client, o)
	require.NoError(t, err)
	require.NoError(t, books.Start())
	t.Cleanup(books.Stop)
	temporaltest.Wait(t, within, "a poller of the books", func() bool {
		return pollersOf(t, w, permits.TaskQueue(w.queue), enumspb.TASK_QUEUE_TYPE_WORKFLOW) == 1
	})

	for _, none := range []*tidemill.AdmissionOptions{nil, {Admitter: struct{ tidemill.Admitter }{}}} {
		_, err = tidemill.NewAdmissionWorker(t.Context(), w.client, tidemill.WorkerOptions{Admission: none})
		require.ErrorContains(t, err, "there are no books to hold")
	}
	_, err = tidemill.NewAdmissionWorker(t.Context(), w.client, tidemill.WorkerOptions{Admission: &tidemill.AdmissionOptions{MaxConcurrent: 1}})
	require.ErrorContains(t, err, "MaxConcurrent")
}

// Where another Admitter is asked, nobody polls for books that nobody holds.
func TestWorkerWithAnotherAdmitter(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp(), func(o *tidemill.WorkerOptions) {
		o.Admission = &tidemill.AdmissionOptions{Admitter: struct{ tidemill.Admitter }{}}
	})
	temporaltest.Wait(t, within, "the graphs' poller", func() bool {
		return pollersOf(t, w, w.queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW) == 1
	})
	require.Zero(t, pollersOf(t, w, permits.TaskQueue(w.queue), enumspb.TASK_QUEUE_TYPE_WORKFLOW))
}

// Workflows match a refusal by its type; they have nothing else to go by.
func TestErrorTypeOfARefusal(t *testing.T) {
	t.Parallel()
	refusal := temporalsdk.NewApplicationError("admission: infeasible", string(admission.AnswerInfeasible))
	require.Equal(t, "infeasible", tidemill.ErrorType(fmt.Errorf("acquire: %w", refusal)))
}
