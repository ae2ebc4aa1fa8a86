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
		p.heard(now, &batch{calls: []*call{{id: id}}}, BatchResult{Answers: []CallAnswer{{Decision: &d}}}, 0)
	}
	for i := range maxHolds + 1 {
		grant(fmt.Sprint(i))
	}
	require.LessOrEqual(t, len(p.holds), maxHolds)
	grant("ours")
	p.released(now.Add(8*time.Second), "ours")
	require.Equal(t, time.Second, p.work)
}
