package activities_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"

	"github.com/tidemill/tidemill/activities"
)

// A page of markup that is within the limits must not grow sixfold on its way
// into history.
func TestPlainPayloadHoldsMarkupAsItIs(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("<b>&</b>", 1000)
	raw, err := activities.Plain(map[string]any{"page": page, "body": json.RawMessage(`"<"`)})
	require.NoError(t, err)
	require.Less(t, len(raw.Payload().GetData()), len(page)+100)
	var back map[string]string
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(raw.Payload(), &back))
	require.Equal(t, map[string]string{"page": page, "body": "<"}, back)
	_, err = activities.Plain(make(chan int))
	require.Error(t, err)
}
