package firetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
)

// registry takes workflows: a worker, or a replayer.
type registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

func registerCode(r registry) {
	for name, w := range map[string]any{
		"idle": idle, "holds": holds, "works": works, "panics": panics, "nests": nests, "keeps": keeps,
	} {
		r.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{Name: name})
	}
}

// idle does nothing for a month.
func idle(ctx workflow.Context) error { return workflow.Sleep(ctx, 720*time.Hour) }

// stay is what a workflow of these tests is told.
type stay struct {
	Domain  string
	Agent   string
	Reject  bool
	Timeout time.Duration
	Fails   bool
	Keep    *tidemill.Permit // of the run before
}

func (s stay) request() tidemill.PermitRequest {
	r := tidemill.PermitRequest{Domain: s.Domain, Agent: s.Agent, Overflow: tidemill.OverflowQueue, QueueTimeout: s.Timeout}
	if s.Reject {
		r.Overflow = tidemill.OverflowReject
	}
	return r
}

// until waits for the signal go.
func untilTold(ctx workflow.Context) error {
	told := false
	workflow.GoNamed(ctx, "go", func(ctx workflow.Context) {
		workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
		told = true
	})
	return workflow.Await(ctx, func() bool { return told })
}

// holds acquires, waits until it is told to go, and releases. It gives the token.
func holds(ctx workflow.Context, s stay) (uint64, error) {
	p, err := tidemill.Acquire(ctx, s.request())
	if err != nil {
		return 0, err
	}
	if err := untilTold(ctx); err != nil {
		return 0, errors.Join(err, tidemill.Release(ctx, p))
	}
	return p.Token, tidemill.Release(ctx, p)
}

// works works under a permit, well or not, and stays open afterwards.
func works(ctx workflow.Context, s stay) error {
	err := tidemill.With(ctx, s.request(), func(workflow.Context, *tidemill.Permit) error {
		if s.Fails {
			return errors.New("the work failed")
		}
		return nil
	})
	if err != nil && !s.Fails {
		return err
	}
	return untilTold(ctx)
}

// panics panics under a permit, catches itself and stays open.
func panics(ctx workflow.Context, s stay) error {
	func() {
		defer func() { _ = recover() }()
		_ = tidemill.With(ctx, s.request(), func(workflow.Context, *tidemill.Permit) error { panic("the work panicked") })
	}()
	return untilTold(ctx)
}

// nests takes a permit that covers a second one, and a third beside it.
func nests(ctx workflow.Context, s stay) (answers []string, err error) {
	outer, err := tidemill.Acquire(ctx, s.request())
	if err != nil {
		return nil, err
	}
	for _, r := range []tidemill.PermitRequest{
		{Domain: s.Domain, Agent: s.Agent, Parent: outer},
		{Domain: s.Domain, Agent: s.Agent, Within: []*tidemill.Permit{outer}},
	} {
		inner, err := tidemill.Acquire(ctx, r)
		answers = append(answers, tidemill.ErrorType(err))
		if err := tidemill.Release(ctx, inner); err != nil {
			return nil, err
		}
	}
	return answers, tidemill.Release(ctx, outer)
}

// keeps hands a permit on to its next run, which says that it keeps it, and acquires
// another before it is told to go.
func keeps(ctx workflow.Context, s stay) error {
	if s.Keep == nil {
		p, err := tidemill.Acquire(ctx, s.request())
		if err != nil {
			return err
		}
		s.Keep = p
		return workflow.NewContinueAsNewError(ctx, "keeps", s)
	}
	if err := tidemill.Keep(ctx, s.Keep); err != nil {
		return err
	}
	second := s
	second.Agent = "b"
	p, err := tidemill.Acquire(ctx, second.request())
	if err != nil {
		return err
	}
	if err := tidemill.Release(ctx, p); err != nil {
		return err
	}
	if err := untilTold(ctx); err != nil {
		return err
	}
	return tidemill.Release(ctx, s.Keep)
}

// codeHall is a hall for workflows of one's own.
func codeHall(t *testing.T, limits tidemill.AdmissionLimits) (*hall, stay) {
	t.Helper()
	h := open(t, hallParts{limits: limits})
	return h, stay{Domain: h.domain, Agent: "a", Timeout: admission.None}
}

func (h *hall) tell(id string) {
	h.tb.Helper()
	require.NoError(h.tb, h.client.SignalWorkflow(h.tb.Context(), id, "", "go", nil))
}

// result waits for the end of a workflow.
func (h *hall) result(id string, into any) error {
	ctx, cancel := context.WithTimeout(h.tb.Context(), patience)
	defer cancel()
	return h.client.GetWorkflow(ctx, id, "").Get(ctx, into)
}

// A workflow of one's own is granted, waits, is refused and gives up as a graph does,
// and holds nothing afterwards. Tokens grow, so that what is done under them can be
// told apart.
func TestCodeAcquires(t *testing.T) {
	t.Parallel()
	h, s := codeHall(t, brief("a"))
	first := h.code("holds", s)
	h.holds(1, 0)
	second, given := h.code("holds", s), h.code("holds", s)
	h.holds(1, 2)
	reject, impatient := s, s
	reject.Reject, impatient.Timeout = true, time.Second
	refused := h.code("holds", reject)
	require.Equal(t, "concurrency_limit_reached", typeOf(h.result(refused, nil)))
	// On a machine that is too busy to answer at all, that is the answer.
	require.Contains(t, []string{"queue_deadline_exceeded", "unanswered"}, typeOf(h.result(h.code("holds", impatient), nil)))
	h.cancel(given)
	require.Error(t, h.result(given, nil))
	h.holds(1, 1)
	var one, two uint64
	h.tell(first)
	require.NoError(t, h.result(first, &one))
	h.holds(1, 0)
	h.tell(second)
	require.NoError(t, h.result(second, &two))
	require.Greater(t, two, one)
	h.holds(0, 0)

	held := h.code("holds", s)
	h.holds(1, 0)
	h.cancel(held)
	require.Error(t, h.result(held, nil))
	h.holds(0, 0)
}

// typeOf is the type of the error that a workflow ended with.
func typeOf(err error) string {
	if application := new(temporal.ApplicationError); errors.As(err, &application) {
		return application.Type()
	}
	return fmt.Sprint(err)
}

// However work under With ends, the permit is given back at once, and not only with
// its lease or with the workflow, which stays open here.
func TestCodeWithGivesBack(t *testing.T) {
	t.Parallel()
	limits := ofOne("a")
	limits.Lease = 10 * time.Minute
	h, s := codeHall(t, limits)
	fails := s
	fails.Fails = true
	for i, id := range []string{h.code("works", s), h.code("works", fails), h.code("panics", s)} {
		h.until(fmt.Sprintf("permit %d to be given back", i+1), func(v tidemill.AdmissionView) bool {
			return v.Grants >= uint64(i)+1 && v.Status.Permits == 0 && v.Status.Queued == 0 //nolint:gosec // small
		})
		h.tell(id)
		require.NoError(t, h.result(id, nil))
	}
}

// What a permit covers already is not taken again; asked for beside it, it would wait
// for itself, and is refused at once.
func TestCodeNests(t *testing.T) {
	t.Parallel()
	h, s := codeHall(t, brief("a"))
	var answers []string
	require.NoError(t, h.result(h.code("nests", s), &answers))
	require.Equal(t, []string{"", "would_deadlock"}, answers)
	h.holds(0, 0)
}

// A permit that is handed on through continue-as-new lives as long as the new run says
// that it keeps it, however many leases that is.
func TestCodeKeepsThroughContinueAsNew(t *testing.T) {
	t.Parallel()
	limits := brief("a", "b")
	h, s := codeHall(t, limits)
	id := h.code("keeps", s)
	view := h.until("the second permit to come and go", func(v tidemill.AdmissionView) bool { return v.Grants == 2 && v.Status.Permits == 1 })
	token, lease := view.Holders[0].Token, view.Holders[0].Lease
	h.until("three more leases", func(v tidemill.AdmissionView) bool {
		require.Len(t, v.Holders, 1)
		require.Equal(t, token, v.Holders[0].Token)
		return v.Holders[0].Lease.Sub(lease) > 3*limits.Lease
	})
	h.tell(id)
	require.NoError(t, h.result(id, nil))
	h.holds(0, 0)
	require.Len(t, chain(t, h.client, id), 2)
}
