package permits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// A change that means nothing is refused before it reaches the book, and every action
// that is known does something to it.
func TestSteer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		steer permits.Steer
		seen  func(*admission.Book) bool // nil: it is refused
	}{
		"limit": {permits.Steer{Action: permits.SteerLimit, Key: "A", Limit: 7}, func(b *admission.Book) bool {
			return len(b.Overrides().Limits) == 1
		}},
		"rate": {permits.Steer{Action: permits.SteerRate, Key: "R", Rate: admission.Rate{Limit: 1, Per: time.Second}}, func(b *admission.Book) bool {
			return len(b.Overrides().Rates) == 1
		}},
		"limits": {permits.Steer{Action: permits.SteerLimits, Limits: admission.Limits{Version: 4}}, func(b *admission.Book) bool {
			return b.Limits().Version == 4
		}},
		"pause":     {permits.Steer{Action: permits.SteerPause}, func(b *admission.Book) bool { return b.Status(noon).Paused }},
		"pause key": {permits.Steer{Action: permits.SteerPause, Key: "A"}, func(b *admission.Book) bool { return len(b.Status(noon).PausedKeys) == 1 }},
		"drain":     {permits.Steer{Action: permits.SteerDrain}, func(b *admission.Book) bool { return b.Status(noon).Draining }},
		"resume":    {permits.Steer{Action: permits.SteerResume}, func(b *admission.Book) bool { return !b.Status(noon).Paused }},

		"nothing":        {permits.Steer{}, nil},
		"unknown":        {permits.Steer{Action: "stop"}, nil},
		"limit, no key":  {permits.Steer{Action: permits.SteerLimit, Limit: 7}, nil},
		"limit too low":  {permits.Steer{Action: permits.SteerLimit, Key: "A", Limit: -2}, nil},
		"rate, negative": {permits.Steer{Action: permits.SteerRate, Key: "R", Rate: admission.Rate{Limit: -1, Per: 1}}, nil},
		"limits, wrong":  {permits.Steer{Action: permits.SteerLimits, Limits: admission.Limits{MaxQueue: 1 << 30}}, nil},
		"limits of a key": {permits.Steer{
			Action: permits.SteerLimits, Key: "A", Limits: admission.Limits{Version: 4},
		}, nil},
		"pause, not text": {permits.Steer{Action: permits.SteerPause, Key: "\xff"}, nil},
	} {
		err := row.steer.Check()
		if row.seen == nil {
			require.ErrorIs(t, err, permits.ErrInvalidSteer, name)
			continue
		}
		require.NoError(t, err, name)
		book := bookOf(t, oneA)
		require.NoError(t, row.steer.Apply(book, noon), name)
		require.True(t, row.seen(book), name)
	}
}
