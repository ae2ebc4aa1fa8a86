package tidemill

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/internal/historytest"
)

// A run of a later release is not taken up by rules that may be others than its own.
func TestARunOfALaterCoreIsNotTakenUp(t *testing.T) {
	t.Parallel()
	events := historytest.Load(t, "workflows/testdata/histories/linear.json").History.GetEvents()
	p := past{id: "first", runID: "r", events: events}
	_, err := p.stood("", nil)
	require.NoError(t, err)
	core := regexp.MustCompile(`"core":\d+`)
	for _, event := range events {
		for _, payload := range event.GetMarkerRecordedEventAttributes().GetDetails()["result"].GetPayloads() {
			payload.Data = core.ReplaceAll(payload.Data, fmt.Appendf(nil, `"core":%d`, activities.Core+1))
		}
	}
	_, err = p.stood("", nil)
	require.Equal(t, ErrTypeUnknownCore, ErrorType(err))
	require.ErrorContains(t, err, "use a newer one")
}
