package firetest_test

import (
	"errors"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
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
