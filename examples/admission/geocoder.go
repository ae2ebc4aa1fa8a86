package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidemill/tidemill"
)

// Action is the name of the action that calls the service.
const Action = "geocode"

// ErrTypeUnknownAddress is the type of the failure that asking again does not mend.
const ErrTypeUnknownAddress = "unknown_address"

// What a call tells the service besides the address.
const (
	headerTenant = "Tenant"
	headerKey    = "Idempotency-Key" // the same for every attempt of a visit
	headerToken  = "Fencing-Token"   // of the permit; grows with every grant
)

// Geocoder is the client of the service.
type Geocoder struct{ Address string } // host and port

// Place is where an address is.
type Place struct {
	North float64 `json:"north"`
	East  float64 `json:"east"`
}

// LookupInput names an address.
type LookupInput struct {
	Address string `json:"address"`
}

// Lookup is the action geocode. A permit bounds how many of these calls run; what
// makes it harmless to repeat one is the key that it carries, and what tells a late
// attempt from the one that took its place is the token.
func (g Geocoder) Lookup(ctx context.Context, in LookupInput) (Place, error) {
	facts := tidemill.Info(ctx)
	target := "http://" + g.Address + "/places?address=" + url.QueryEscape(in.Address)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, http.NoBody)
	if err != nil {
		return Place{}, err
	}
	request.Header.Set(headerTenant, facts.Lane.App)
	request.Header.Set(headerKey, facts.Key)
	request.Header.Set(headerToken, strconv.FormatUint(facts.Token, 10))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Place{}, err
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
		var place Place
		err := json.NewDecoder(response.Body).Decode(&place)
		return place, err
	case http.StatusNotFound:
		return Place{}, tidemill.NewError(ErrTypeUnknownAddress, "nobody knows "+in.Address).NotRetryable()
	default:
		return Place{}, fmt.Errorf("the service answers %s", response.Status)
	}
}
