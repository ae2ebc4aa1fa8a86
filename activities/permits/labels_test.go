package permits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// Labels must be few: an agent that the limits do not name is one of the others, and
// what is only repeated is not counted twice.
func TestLabels(t *testing.T) {
	t.Parallel()
	labeller := permits.NewLabeller(admission.Limits{Agents: []admission.KeyLimit{{Key: "planner", Limit: 1}, {Key: "team*", Limit: 1}}})
	for name, row := range map[string]struct {
		decision admission.Decision
		agent    string
		counted  bool
		waited   bool
	}{
		"named":       {admission.Decision{Agent: "planner", Answer: admission.AnswerGranted, Token: 1}, "planner", true, true},
		"not named":   {admission.Decision{Agent: "team-7", Answer: admission.AnswerDeadlineExceeded}, permits.AgentOther, true, true},
		"no agent":    {admission.Decision{Answer: admission.AnswerQueued}, permits.AgentNone, true, false},
		"of a permit": {admission.Decision{Answer: admission.AnswerReleased, Token: 1}, permits.AgentNone, true, false},
		"repeated":    {admission.Decision{Answer: admission.AnswerGranted, Token: 1, Repeated: true}, permits.AgentNone, false, false},
	} {
		row.decision.Waited, row.decision.ID, row.decision.Key = time.Second, "secret", "tenant:7"
		labels, counted := labeller.Of(row.decision)
		require.Equal(t, row.counted, counted, name)
		require.Equal(t, map[string]string{"domain": "d", "outcome": string(row.decision.Answer), "agent": row.agent}, labels.Tags("d"), name)
		waited, ok := permits.Wait(row.decision)
		require.Equal(t, row.waited, ok, name)
		require.Equal(t, time.Second, waited, name)
	}
}
