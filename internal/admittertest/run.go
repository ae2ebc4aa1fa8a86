package admittertest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Setup is an admitter with one domain.
type Setup struct {
	Admitter permits.Admitter
	Domain   string
	// Begin begins an owner that is a chain of workflow runs.
	Begin func(t *testing.T) Owner
	// Steer makes an operator's change to the domain.
	Steer func(t *testing.T, change permits.Steer)
}

// Owner is a chain of workflow runs in a test.
type Owner interface {
	Owner() admission.Owner
	// Told are the decisions that were delivered to it so far.
	Told() []admission.Decision
	// Believe is what it says from now on when it is asked. Before, it says nothing.
	Believe(b permits.Belief)
	// End ends the chain.
	End()
}

const (
	// soon is within what must happen.
	soon = 30 * time.Second
	// lease is the one of tests in which leases run out.
	lease = time.Second
)

// Run runs the suite.
func Run(t *testing.T, setup func(t *testing.T, limits admission.Limits) Setup) {
	t.Helper()
	for _, group := range []map[string]test{answers(), messages(), owners(), order()} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test.run(&trial{T: t, Setup: setup(t, test.limits)})
			})
		}
	}
}

// test is one promise.
type test struct {
	limits admission.Limits
	run    func(t *trial)
}

// trial is a test that runs.
type trial struct {
	*testing.T
	Setup

	ids atomic.Uint64
}

// agent asks for a unit of an agent, as a process that queues without end.
func (t *trial) agent(name string) admission.Request {
	n := t.ids.Add(1)
	return admission.Request{
		ID: permits.RequestID("process", t.Name(), n), Owner: admission.Owner{Process: "process"},
		Agent: name, Overflow: admission.OverflowQueue, QueueTimeout: admission.None,
	}
}

// of makes a request the nth of an owner.
func (t *trial) of(o Owner, number uint64, r admission.Request) admission.Request {
	r.Owner, r.Number = o.Owner(), number
	r.ID = permits.RequestID(o.Owner().FirstRun, "node", number)
	return r
}

// keys asks for units of keys, as agent does.
func (t *trial) keys(list ...admission.Units) admission.Request {
	r := t.agent("")
	r.Keys = list
	return r
}

func (t *trial) ask(r admission.Request) permits.Ask {
	return permits.Ask{Domain: t.Domain, Request: r}
}

// submit hands a request in, until it is answered: a server may be busy.
func (t *trial) submit(r admission.Request, belief ...*admission.Confirmation) (d admission.Decision) {
	t.Helper()
	ask := t.ask(r)
	for _, b := range belief {
		ask.Belief = b
	}
	temporaltest.Wait(t, soon, "an answer", func() bool {
		var err error
		d, err = t.Admitter.Submit(t.Context(), ask)
		if err != nil {
			require.ErrorIs(t, err, permits.ErrUnanswered)
		}
		return err == nil
	})
	require.Equal(t, r.ID, d.ID)
	require.Equal(t, r.Owner, d.Owner)
	return d
}

// granted submits a request that must be granted at once.
func (t *trial) granted(r admission.Request, belief ...*admission.Confirmation) admission.Decision {
	t.Helper()
	d := t.submit(r, belief...)
	require.Equal(t, admission.AnswerGranted, d.Answer, "%+v", d)
	require.Positive(t, d.Token)
	return d
}

// answer submits a request that must be answered so.
func (t *trial) answer(want admission.Answer, r admission.Request) admission.Decision {
	t.Helper()
	d := t.submit(r)
	require.Equal(t, want, d.Answer, "%+v", d)
	return d
}

func (t *trial) hold(id string, token uint64) permits.Hold {
	return permits.Hold{Domain: t.Domain, ID: id, Token: token}
}

func (t *trial) release(d admission.Decision) {
	t.Helper()
	require.NoError(t, t.Admitter.Release(t.Context(), t.hold(d.ID, d.Token)))
}

func (t *trial) cancel(id string) {
	t.Helper()
	require.NoError(t, t.Admitter.Cancel(t.Context(), t.hold(id, 0)))
}

func (t *trial) extend(id string, token uint64) admission.Result {
	t.Helper()
	result, err := t.Admitter.Extend(t.Context(), t.hold(id, token))
	require.NoError(t, err)
	return result
}

// where tells where a request stands; empty if it is not known.
func (t *trial) where(id string) admission.Explanation {
	t.Helper()
	x, known, err := t.Admitter.Explain(t.Context(), t.Domain, id)
	require.NoError(t, err)
	require.Equal(t, known, x.Answer != "")
	return x
}

// becomes waits until a request stands so.
func (t *trial) becomes(want admission.Answer, id string) (x admission.Explanation) {
	t.Helper()
	temporaltest.Wait(t, soon, id+" to be "+string(want), func() bool {
		x = t.where(id)
		return x.Answer == want
	})
	return x
}

// told waits until an owner has been told an answer.
func (t *trial) told(o Owner, want admission.Answer, id string) (d admission.Decision) {
	t.Helper()
	temporaltest.Wait(t, soon, "the owner to be told that "+id+" is "+string(want), func() bool {
		for _, d = range o.Told() {
			if d.ID == id && d.Answer == want {
				return true
			}
		}
		return false
	})
	return d
}

// settled waits until everything that was said about a request is heard.
func (t *trial) settled(id string) {
	t.Helper()
	if f, ok := t.Admitter.(permits.Flusher); ok {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		require.NoError(t, f.Flush(ctx, t.Domain, id))
	}
}
