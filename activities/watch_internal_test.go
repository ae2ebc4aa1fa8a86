package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// scene is a watch with everything around it scripted.
type scene struct {
	watch   *watch
	ctx     context.Context //nolint:containedctx // the context is what the scene plays with
	end     context.CancelCauseFunc
	done    chan returned
	stop    chan struct{}
	answers chan error
	told    context.Context //nolint:containedctx // the action's
	silent  bool
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{done: make(chan returned, 1), stop: make(chan struct{}), answers: make(chan error, 1)}
	s.ctx, s.end = context.WithCancelCause(t.Context())
	told, cancel := context.WithCancelCause(t.Context())
	s.told = told
	s.watch = &watch{
		done: s.done, stop: s.stop, answers: s.answers, cancel: cancel, onSilence: func() { s.silent = true },
		grace: 20 * time.Millisecond,
	}
	return s
}

func TestWatchReasons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause error
		want  ended
	}{
		"cancel":           {temporal.NewCanceledError(), endedCancel},
		"reset":            {activity.ErrActivityReset, endedReset},
		"the run is gone":  {serviceerror.NewNotFound("x"), endedForgotten},
		"no namespace":     {serviceerror.NewNamespaceNotFound("x"), endedForgotten},
		"operator's pause": {activity.ErrActivityPaused, endedNot},
		"server away":      {serviceerror.NewUnavailable("x"), endedNot},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			require.Equal(t, c.want, s.watch.reason(c.cause))
			close(s.stop)
			if c.want == endedNot && !errors.Is(c.cause, activity.ErrActivityPaused) {
				require.Equal(t, endedStop, s.watch.reason(c.cause), "the SDK ends contexts of a stopping worker")
			}
		})
	}
}

// A pause by an operator concerns the next attempt: this one goes on and may
// still be cancelled, though the SDK no longer says so.
func TestWatchGoesOnWhilePaused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.end(activity.ErrActivityPaused)
	s.answers <- activity.ErrActivityPaused
	go func() { s.answers <- temporal.NewCanceledError() }()
	r, why := s.watch.wait(s.ctx)
	require.True(t, s.silent, "heartbeats must go to the server directly from now on")
	require.Equal(t, endedCancel, why)
	require.True(t, r.left)
	require.Error(t, s.told.Err())
}

func TestWatchKeepsTheFirstReason(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.watch.grace = time.Minute
	s.watch.end(endedCancel)
	s.watch.end(endedReset)
	s.watch.end(endedNot)
	require.Equal(t, endedCancel, s.watch.why)
	first := s.watch.over
	s.watch.end(endedStop)
	require.Equal(t, endedCancel, s.watch.why, "a stopping worker still reports the cancel")
	require.NotEqual(t, first, s.watch.over, "but cannot wait for the whole grace")
}

// What the action returns in the instant it is given up still counts.
func TestWatchPrefersWhatReturned(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.done <- returned{}
	r, why := s.watch.leave(endedTimeout)
	require.False(t, r.left)
	require.Equal(t, endedTimeout, why)
}

func TestWatchTimeoutDuringGraceIsTheCancel(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.watch.timeout, s.watch.grace = 10*time.Millisecond, time.Minute
	s.end(temporal.NewCanceledError())
	_, why := s.watch.wait(s.ctx)
	require.Equal(t, endedCancel, why)
}
