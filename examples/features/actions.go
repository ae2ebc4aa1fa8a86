package features

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill"
)

// Error types of the actions; the graphs route on them.
const (
	ErrTypeNoQuote      = "no_quote"      // nobody gives a price
	ErrTypeUnavailable  = "unavailable"   // not now; another attempt may do
	ErrTypeBadRequest   = "bad_request"   // no attempt will do
	ErrTypeCardDeclined = "card_declined" // the bank says no
	ErrTypeBankClosed   = "bank_closed"   // the bank says nothing
	ErrTypeCardStolen   = "card_stolen"   // the bank says worse
)

// TextInput is a text to work on.
type TextInput struct {
	Text string `json:"text"`
}

// Upper writes a text in capitals. Repeating it does no harm.
func Upper(_ context.Context, in TextInput) (string, error) { return strings.ToUpper(in.Text), nil }

// QuoteInput asks somebody for a price.
type QuoteInput struct {
	Price *int `json:"price"` // what they will say; nil: they will not
}

// Quote gives the price, or the failure no_quote, which is final.
func Quote(_ context.Context, in QuoteInput) (int, error) {
	if in.Price == nil {
		return 0, tidemill.NewError(ErrTypeNoQuote, "nobody gave a price").NotRetryable()
	}
	return *in.Price, nil
}

// FirstNumber finds the first number in a text. Its output is null when there is
// none, which is for the graph's output_schema to judge.
func FirstNumber(_ context.Context, in TextInput) (*float64, error) {
	found := regexp.MustCompile(`-?\d+(\.\d+)?`).FindString(in.Text)
	if found == "" {
		return nil, nil //nolint:nilnil // null is the answer
	}
	number, err := strconv.ParseFloat(found, 64)
	return &number, err
}

// FlakyInput says how a call goes wrong.
type FlakyInput struct {
	Fails int    `json:"fails"` // so many attempts
	With  string `json:"with"`  // an error type
}

// Flaky fails as often as it is told and then gives the number of the attempt.
func Flaky(ctx context.Context, in FlakyInput) (int, error) {
	if attempt := tidemill.Info(ctx).Attempt; attempt > in.Fails {
		return attempt, nil
	}
	return 0, tidemill.NewError(in.With, "as it was told")
}

// ChargeInput is a card to charge.
type ChargeInput struct {
	Card string `json:"card"` // good, declined, stolen, or anything else
}

// Charge gives a receipt. A declined card is an ordinary outcome and a stolen one
// is not; of other cards the bank says nothing.
func Charge(ctx context.Context, in ChargeInput) (string, error) {
	switch in.Card {
	case "good":
		return "receipt " + string(tidemill.Info(ctx).Address), nil
	case "declined":
		return "", tidemill.NewError(ErrTypeCardDeclined, "the bank declines").NotRetryable().AsBusiness()
	case "stolen":
		return "", tidemill.NewError(ErrTypeCardStolen, "the card is stolen").NotRetryable()
	default:
		return "", tidemill.NewError(ErrTypeBankClosed, "nobody at the bank")
	}
}

// InspectInput is what a traveller brings.
type InspectInput struct {
	Luggage string `json:"luggage"` // none, bag, snake, parcel, or anything else
}

// Inspect shows all that an action can ask for.
func Inspect(_ context.Context, in InspectInput) (tidemill.Result, error) {
	switch in.Luggage {
	case "none":
		return tidemill.Output("empty hands"), nil
	case "bag":
		return tidemill.Output("a ticket").WithDelta(map[string]int{"bags": 1}), nil
	case "snake":
		return tidemill.Stop("not on this flight"), nil
	case "parcel":
		return tidemill.Pause(tidemill.PauseRequest{Reason: "customs", Summary: "What is in the parcel?"}), nil
	case "papers":
		return tidemill.Route("office"), nil
	default:
		return tidemill.Result{}, errors.New("nobody knows what this is")
	}
}
