package orders_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/examples/order-review/orders"
)

func listen(t *testing.T) *orders.Server {
	t.Helper()
	server, err := orders.Listen("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

const (
	eventually = 5 * time.Second
	soon       = 5 * time.Millisecond
)

// call sends a request and returns the status and the decoded body.
func call(t *testing.T, method, url, body, key string) (int, map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	var decoded map[string]any
	require.NoError(t, json.NewDecoder(response.Body).Decode(&decoded))
	return response.StatusCode, decoded
}

func TestOrders(t *testing.T) {
	t.Parallel()
	server := listen(t)
	server.Put(orders.Order{ID: "x", Total: 1})
	server.Break("9")

	for _, tc := range []struct {
		id     string
		status int
	}{
		{id: "7", status: http.StatusOK},
		{id: "x", status: http.StatusOK},
		{id: "nope", status: http.StatusNotFound},
		{id: "broken", status: http.StatusServiceUnavailable},
		{id: "9", status: http.StatusServiceUnavailable},
	} {
		status, _ := call(t, http.MethodGet, server.URL()+"/orders/"+tc.id, "", "")
		require.Equal(t, tc.status, status, tc.id)
		require.Equal(t, 1, server.Calls(http.MethodGet, "/orders/"+tc.id))
	}
	server.Mend("9")
	status, order := call(t, http.MethodGet, server.URL()+"/orders/9", "", "")
	require.Equal(t, http.StatusOK, status)
	require.EqualValues(t, 2400, order["total"])
}

// A shop that ships a repeated call twice would blame the runs for its own fault.
func TestShippingOncePerKey(t *testing.T) {
	t.Parallel()
	server := listen(t)
	ship := func(key string) map[string]any {
		status, parcel := call(t, http.MethodPost, server.URL()+"/parcels", `{"order":"7"}`, key)
		require.Equal(t, http.StatusOK, status)
		return parcel
	}
	first, again, other := ship("a"), ship("a"), ship("b")
	require.Equal(t, first, again)
	require.NotEqual(t, first["id"], other["id"])
	require.Len(t, server.Parcels("7"), 2)
	require.Equal(t, 3, server.Calls(http.MethodPost, "/parcels?order=7"))
}

func TestParcelArrivesAtTheSecondLook(t *testing.T) {
	t.Parallel()
	server := listen(t)
	_, parcel := call(t, http.MethodPost, server.URL()+"/parcels", `{"order":"3"}`, "")
	for _, want := range []string{orders.StatusShipped, orders.StatusDelivered, orders.StatusDelivered} {
		status, seen := call(t, http.MethodGet, server.URL()+"/parcels/"+parcel["id"].(string), "", "")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, want, seen["status"])
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server := listen(t)
	for _, tc := range []struct {
		method, path, body string
		status             int
	}{
		{method: http.MethodPost, path: "/parcels", body: `{"order":"nope"}`, status: http.StatusUnprocessableEntity},
		{method: http.MethodPost, path: "/parcels", body: `7`, status: http.StatusBadRequest},
		{method: http.MethodGet, path: "/parcels/P9", status: http.StatusNotFound},
	} {
		status, answer := call(t, tc.method, server.URL()+tc.path, tc.body, "")
		require.Equal(t, tc.status, status, tc.path)
		require.NotEmpty(t, answer["error"])
	}
}

func TestHeldShippingWaits(t *testing.T) {
	t.Parallel()
	server := listen(t)
	release := server.Hold("7")
	shipped := make(chan int, 1)
	go func() {
		response, err := http.Post(server.URL()+"/parcels", "application/json", strings.NewReader(`{"order":"7"}`))
		if err != nil {
			close(shipped)
			return
		}
		_ = response.Body.Close()
		shipped <- response.StatusCode
	}()
	require.Eventually(t, func() bool { return server.Calls(http.MethodPost, "/parcels?order=7") == 1 }, eventually, soon)
	require.Empty(t, server.Parcels("7"))
	release()
	release()
	require.Equal(t, http.StatusOK, <-shipped)
	require.Len(t, server.Parcels("7"), 1)
}

func TestCallsAreListed(t *testing.T) {
	t.Parallel()
	server := listen(t)
	call(t, http.MethodGet, server.URL()+"/orders/7", "", "")
	_, calls := call(t, http.MethodGet, server.URL()+"/calls", "", "")
	require.Equal(t, map[string]any{"GET /orders/7": 1.0}, calls)
}
