package orderreview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

// Errors that Ship reports; a graph can route on them in on_error.
const (
	ErrTypeShippingRefused     = "shipping_refused"     // the shop says no; asking again changes nothing
	ErrTypeShippingUnavailable = "shipping_unavailable" // no answer, or a broken one
)

// Shipping hands orders over to the shop.
type Shipping struct {
	Address string // host and port of the shop
}

// ShipInput is what the graph writes under args.
type ShipInput struct {
	Order string `json:"order"`
}

// Ship is the action ship: it has the order made into a parcel and returns that.
//
// An action may be called again when its worker was lost, however few attempts
// it is allowed. Ship sends the key of its activation, which every repetition
// shares, so the shop makes one parcel.
func (s Shipping) Ship(ctx context.Context, in ShipInput) (orders.Parcel, error) {
	response, err := s.post(ctx, in)
	if err != nil {
		return orders.Parcel{}, tidemill.NewError(ErrTypeShippingUnavailable, err.Error())
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode >= http.StatusInternalServerError:
		return orders.Parcel{}, tidemill.NewError(ErrTypeShippingUnavailable, "the shop answers "+response.Status)
	case response.StatusCode >= http.StatusBadRequest:
		message := fmt.Sprintf("the shop refuses to ship order %q: %s", in.Order, response.Status)
		return orders.Parcel{}, tidemill.NewError(ErrTypeShippingRefused, message).NotRetryable()
	}
	var parcel orders.Parcel
	if err := json.NewDecoder(response.Body).Decode(&parcel); err != nil {
		return orders.Parcel{}, tidemill.NewError(ErrTypeShippingUnavailable, "the shop's answer is not a parcel: "+err.Error())
	}
	return parcel, nil
}

func (s Shipping) post(ctx context.Context, in ShipInput) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Address+"/parcels", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", tidemill.Info(ctx).Key)
	return http.DefaultClient.Do(request)
}
