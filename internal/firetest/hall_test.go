package firetest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// hall is a worker of graphs with its book, on a task queue and a domain of a test's
// own. All histories of its runs and of its book are replayed when a test has passed.
type hall struct {
	tb     testing.TB
	server *temporaltest.Server
	client client.Client
	runs   *tidemill.Client
	queue  string
	domain string
	stage  *stage
	made   hallParts
	count  atomic.Int64
	begun  []string      // workflow ids
	books  worker.Worker // of a hall with a wrapped combiner
}

// hallParts is what a hall is made of.
type hallParts struct {
	graphs []string // documents
	limits tidemill.AdmissionLimits
	rules  []tidemill.AdmissionRule // their domain is the hall's. None: every node needs the agent of its name.
	events int                      // after which the book continues as new. Zero: as it will.
	edit   func(*hall, *tidemill.WorkerOptions)
	wrap   func(tidemill.Admitter) tidemill.Admitter // stands before the combiner
	client func(*client.Options)
}

// open starts the worker.
func open(tb testing.TB, parts hallParts) *hall {
	tb.Helper()
	server := shared.Server(tb)
	h := &hall{tb: tb, server: server, queue: server.TaskQueue(tb), stage: newStage(), made: parts}
	h.client = server.Client(tb, func(o *client.Options) {
		if parts.client != nil {
			parts.client(o)
		}
	})
	h.domain = domainOf(h.queue)
	h.runs = tidemill.NewClient(h.client, tidemill.ClientOptions{TaskQueue: h.queue})
	tb.Cleanup(h.close)
	if parts.events > 0 {
		_, err := h.client.ExecuteWorkflow(tb.Context(), client.StartWorkflowOptions{
			ID: h.book(), TaskQueue: permits.TaskQueue(h.queue),
		}, permits.WorkflowType, permits.Start{Domain: h.domain, Limits: parts.limits, MaxEvents: parts.events})
		require.NoError(tb, err)
	}
	h.worker(parts)
	return h
}

// worker starts a worker, which is stopped when the test ends.
func (h *hall) worker(parts hallParts) worker.Worker {
	h.tb.Helper()
	options := tidemill.WorkerOptions{
		TaskQueue: h.queue, StopGrace: -1,
		Admission: &tidemill.AdmissionOptions{
			Domains: []tidemill.AdmissionDomain{{Name: h.domain, Limits: parts.limits}},
			Rules:   tidemill.AdmissionRules{Rules: h.rules(parts.rules)},
		},
		Worker: worker.Options{StickyScheduleToStartTimeout: time.Second},
	}
	if parts.edit != nil {
		parts.edit(h, &options)
	}
	if parts.wrap != nil {
		h.openBooks()
		options.Admission = &tidemill.AdmissionOptions{Rules: options.Admission.Rules, Admitter: parts.wrap(h.combiner(parts.limits))}
	}
	w, err := tidemill.NewWorker(h.tb.Context(), h.client, h.app(parts.graphs), options)
	require.NoError(h.tb, err)
	registerCode(w)
	require.NoError(h.tb, w.Start())
	h.tb.Cleanup(w.Stop)
	return w
}

// openBooks starts a worker that holds the book, apart from that of the graphs.
func (h *hall) openBooks() {
	h.tb.Helper()
	books, err := tidemill.NewAdmissionWorker(h.tb.Context(), h.client, tidemill.WorkerOptions{
		TaskQueue: h.queue,
		Admission: &tidemill.AdmissionOptions{Domains: []tidemill.AdmissionDomain{{Name: h.domain, Limits: h.made.limits}}},
	})
	require.NoError(h.tb, err)
	require.NoError(h.tb, books.Start())
	h.tb.Cleanup(books.Stop)
	h.books = books
}

func (h *hall) rules(rules []tidemill.AdmissionRule) []tidemill.AdmissionRule {
	if len(rules) == 0 {
		rules = []tidemill.AdmissionRule{{Agent: "${ node }"}}
	}
	list := make([]tidemill.AdmissionRule, len(rules))
	for i, rule := range rules {
		rule.Domain = h.domain
		list[i] = rule
	}
	return list
}

func (h *hall) app(graphs []string) *tidemill.App {
	app := tidemill.NewApp()
	for i, document := range graphs {
		app.AddGraph(fmt.Sprintf("%d.yaml", i), []byte(document))
	}
	tidemill.Action(app, "play", h.stage.play)
	return app
}

// book is the workflow id of the book.
func (h *hall) book() string { return permits.WorkflowID(h.domain) }

// close replays what the test has left in the server, and ends the book.
func (h *hall) close() {
	if !h.tb.Failed() {
		for _, id := range append(h.begun, h.book()) {
			for _, run := range chain(h.tb, h.client, id) {
				replay(h.tb, h.client, id, run)
			}
		}
	}
	for _, id := range append(h.begun, h.book()) {
		_ = h.client.TerminateWorkflow(context.Background(), id, "", "the test is over") // if it is still open
	}
}

// start starts a run of a graph and gives its workflow id.
func (h *hall) start(graph string, input any) string {
	h.tb.Helper()
	return h.startWith(tidemill.StartOptions{Graph: graph, Input: input})
}

func (h *hall) startWith(options tidemill.StartOptions) string {
	h.tb.Helper()
	options.ID = fmt.Sprintf("%s-%s-%d", h.queue, options.Graph, h.count.Add(1))
	_, err := h.runs.Start(h.tb.Context(), options)
	require.NoError(h.tb, err)
	h.begun = append(h.begun, options.ID)
	return options.ID
}

// code starts a workflow of these tests and gives its workflow id.
func (h *hall) code(workflow string, args ...any) string {
	h.tb.Helper()
	id := fmt.Sprintf("%s-%s-%d", h.queue, workflow, h.count.Add(1))
	_, err := h.client.ExecuteWorkflow(h.tb.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: h.queue}, workflow, args...)
	require.NoError(h.tb, err)
	h.begun = append(h.begun, id)
	return id
}

// ends waits until a run is closed, which must be with the status.
func (h *hall) ends(id string, want tidemill.Status) tidemill.Report {
	h.tb.Helper()
	ctx, cancel := context.WithTimeout(h.tb.Context(), patience)
	defer cancel()
	report, err := h.runs.Await(ctx, id, tidemill.AwaitOptions{ThroughPauses: true})
	require.NoError(h.tb, err, id)
	require.Equal(h.tb, want, report.Status, "%s: output %s, error %v", id, report.Output, report.Error)
	return report
}

// report is how a run stands.
func (h *hall) report(id string) (report tidemill.Report) {
	h.tb.Helper()
	temporaltest.Wait(h.tb, patience, "the status of "+id, func() bool {
		var err error
		report, err = h.runs.Status(h.tb.Context(), id)
		return err == nil
	})
	return report
}

// waits waits until a run waits for the permit of its node, which another holds.
func (h *hall) waits(id string) tidemill.Report {
	h.tb.Helper()
	const reason = "admission: limit of agent:a"
	var report tidemill.Report
	temporaltest.Wait(h.tb, patience, id+" to wait for "+reason, func() bool {
		report = h.report(id)
		return len(report.Waiting) > 0 && report.Waiting[0].Reason == reason
	})
	return report
}

// until waits until the book stands so.
func (h *hall) until(what string, fits func(permits.View) bool) (view permits.View) {
	h.tb.Helper()
	defer func() {
		if h.tb.Failed() {
			h.tb.Logf("the book: %+v", view)
		}
	}()
	temporaltest.Wait(h.tb, patience, what, func() bool {
		value, err := h.client.QueryWorkflow(h.tb.Context(), h.book(), "", permits.QueryStatus)
		if err != nil {
			return false
		}
		view = permits.View{}
		return value.Get(&view) == nil && fits(view)
	})
	return view
}

// holds waits until so many permits are held and so many requests wait.
func (h *hall) holds(held, queued int) permits.View {
	h.tb.Helper()
	return h.until(fmt.Sprintf("%d permits and %d waiting", held, queued), func(v permits.View) bool {
		return v.Status.Permits == held && v.Status.Queued == queued
	})
}

// steer makes an operator's change.
func (h *hall) steer(change tidemill.AdmissionSteer) {
	h.tb.Helper()
	_, err := h.runs.SteerAdmission(h.tb.Context(), h.domain, change)
	require.NoError(h.tb, err)
}

func (h *hall) terminate(id string) {
	h.tb.Helper()
	require.NoError(h.tb, h.client.TerminateWorkflow(h.tb.Context(), id, "", "by the test"))
}

func (h *hall) cancel(id string) {
	h.tb.Helper()
	require.NoError(h.tb, h.client.CancelWorkflow(h.tb.Context(), id, ""))
}

// events are the types of the events of a run.
func (h *hall) events(id string) (types []enumspb.EventType) {
	h.tb.Helper()
	for _, event := range temporaltest.History(h.tb, h.client, id, "").GetEvents() {
		types = append(types, event.GetEventType())
	}
	return types
}

// combiner is what another process would ask the book with.
func (h *hall) combiner(limits tidemill.AdmissionLimits) *permits.Combiner {
	h.tb.Helper()
	c, err := permits.NewCombiner(permits.CombinerOptions{
		Client: h.client, TaskQueue: permits.TaskQueue(h.queue), Limits: map[string]admission.Limits{h.domain: limits},
		Owners: permits.TemporalOwners(h.client),
	})
	require.NoError(h.tb, err)
	h.tb.Cleanup(func() { _ = c.Close(context.Background()) }) // what it could not send, nobody waits for
	return c
}
