package permits

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// Permits that other processes give back, or that run out, are never heard of again.
// They must not fill what is watched, or the line would go on at the pace of long ago.
func TestPaceForgets(t *testing.T) {
	t.Parallel()
	var p pace
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	grant := func(id string) {
		d := admission.Decision{ID: id, Answer: admission.AnswerGranted}
		p.heard(now, &batch{calls: []*call{{id: id}}, begun: now}, BatchResult{Answers: []CallAnswer{{Decision: &d}}}, 0)
	}
	for i := range maxHolds + 1 {
		grant(fmt.Sprint(i))
	}
	require.LessOrEqual(t, len(p.holds), maxHolds)
	grant("ours")
	p.released(now.Add(8*time.Second), "ours")
	require.Equal(t, time.Second, p.work)
}

// A request rests for a part of what work takes or of what batches take, whichever is
// longer, and never for long.
func TestPaceRests(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ work, trip, want time.Duration }{
		"nothing is known yet": {},
		"work is slow":         {work: 100 * time.Millisecond, trip: 5 * time.Millisecond, want: 50 * time.Millisecond},
		"the server is slow":   {work: 20 * time.Millisecond, trip: 40 * time.Millisecond, want: 80 * time.Millisecond},
		"work is very slow":    {work: time.Hour, want: longestRest},
		"the server hangs":     {trip: time.Minute, want: longestRest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pace{work: c.work, trip: c.trip}
			p.heard(now, &batch{begun: now.Add(-c.trip)}, BatchResult{}, 0)
			require.Equal(t, c.want, p.due(&call{wire: Call{Submit: &admission.Request{}}}).Sub(now))
		})
	}
}
