package orderreview_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

// Only what another attempt could change may be tried again: a refusal that is
// repeated three times is a slow refusal.
func TestShipTellsRefusalsFromOutages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, answer, errorType string
		status                  int
		final                   bool
	}{
		{name: "refused", status: http.StatusUnprocessableEntity, errorType: orderreview.ErrTypeShippingRefused, final: true},
		{name: "down", status: http.StatusBadGateway, errorType: orderreview.ErrTypeShippingUnavailable},
		{name: "no parcel", status: http.StatusOK, answer: "<html>", errorType: orderreview.ErrTypeShippingUnavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.answer))
			}))
			t.Cleanup(server.Close)
			requireShipError(t, strings.TrimPrefix(server.URL, "http://"), tc.errorType, tc.final)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		requireShipError(t, strings.TrimPrefix(server.URL, "http://"), orderreview.ErrTypeShippingUnavailable, false)
	})
}

func requireShipError(t *testing.T, address, errorType string, final bool) {
	t.Helper()
	parcel, err := orderreview.Shipping{Address: address}.Ship(t.Context(), orderreview.ShipInput{Order: "7"})
	require.Equal(t, orders.Parcel{}, parcel)
	var said *tidemill.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, errorType, said.Type)
	require.Equal(t, final, said.Final)
}
