package permits_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/admittertest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// inProcess is an in-process admitter of one domain, and the owners that it reaches.
func inProcess(t *testing.T, limits admission.Limits) (*permits.InProcess, *admittertest.Town) {
	t.Helper()
	town := admittertest.NewTown()
	p, err := permits.NewInProcess(permits.InProcessOptions{Limits: map[string]admission.Limits{"": limits}, Owners: town})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return p, town
}

// What a program may rely on must not depend on where its permits come from.
func TestInProcessKeepsThePromises(t *testing.T) {
	t.Parallel()
	admittertest.Run(t, func(t *testing.T, limits admission.Limits) admittertest.Setup {
		t.Helper()
		p, town := inProcess(t, limits)
		return admittertest.Setup{
			Admitter: p, Begin: town.Begin,
			Steer: func(t *testing.T, change permits.Steer) {
				t.Helper()
				require.NoError(t, p.Steer("", change))
			},
		}
	})
}

// A grant that could not be delivered would be held by nobody who knows.
func TestInProcessDeliversUntilItArrives(t *testing.T) {
	t.Parallel()
	p, town := inProcess(t, admission.Limits{Global: 1})
	o := town.Begin(t)
	first, err := p.Submit(t.Context(), ask("w/1", "w"))
	require.NoError(t, err)
	second := ask("o/1", "")
	second.Request.Owner = o.Owner()
	_, err = p.Submit(t.Context(), second)
	require.NoError(t, err)
	town.Fail(2)
	require.NoError(t, p.Release(t.Context(), permits.Hold{ID: first.ID, Token: first.Token}))
	temporaltest.Wait(t, 30*time.Second, "the grant to arrive", func() bool { return len(o.Told()) == 1 })

	require.NoError(t, p.Cancel(t.Context(), permits.Hold{ID: "o/1"}))
	status, err := p.Status("")
	require.NoError(t, err)
	require.Zero(t, status.Permits)
}

// A domain is a book of its own.
func TestInProcessKeepsDomainsApart(t *testing.T) {
	t.Parallel()
	p, err := permits.NewInProcess(permits.InProcessOptions{Limits: map[string]admission.Limits{"x": {Global: 1}}})
	require.NoError(t, err)
	for i, domain := range []string{"", "x"} {
		d, err := p.Submit(t.Context(), permits.Ask{Domain: domain, Request: request("w/1", "w")})
		require.NoError(t, err)
		require.Equal(t, admission.AnswerGranted, d.Answer, i)
	}
	require.NoError(t, p.Close(t.Context()))
	_, err = p.Submit(t.Context(), ask("w/2", "w"))
	require.ErrorIs(t, err, permits.ErrClosed)

	_, err = permits.NewInProcess(permits.InProcessOptions{Limits: map[string]admission.Limits{"x": {Global: -7}}})
	require.ErrorIs(t, err, admission.ErrInvalidLimits)
	require.ErrorContains(t, err, `domain "x"`)
}
