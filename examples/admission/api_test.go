package admission_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/examples/admission"
)

// post calls a service as the action does.
func post(t *testing.T, api *admission.API, key, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+api.Address()+"/places?address=here", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Fencing-Token", token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

// A permit does not make an effect happen once: an attempt may be repeated, and one
// that was given up may come late. Key and token are what the service needs to tell.
func TestServiceTellsAttemptsApart(t *testing.T) {
	t.Parallel()
	api, err := admission.Listen("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = api.Close() })
	require.Equal(t, http.StatusOK, post(t, api, "run/lookup#1", "7"))
	require.Equal(t, http.StatusOK, post(t, api, "run/lookup#1", "9"), "another attempt, under another permit")
	require.Len(t, api.Record().Calls, 1, "the work was done twice")
	require.Equal(t, http.StatusConflict, post(t, api, "run/lookup#1", "7"), "the first attempt comes late")
	require.Equal(t, http.StatusOK, post(t, api, "other/lookup#1", "8"))
	require.Equal(t, http.StatusBadRequest, post(t, api, "", "8"))
}
