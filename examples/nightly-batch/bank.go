package nightlybatch

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/tidemill/tidemill"
)

// Error types of the actions; the graph's retry names the first.
const (
	ErrTypeAccountClosed = "account_closed" // asking again changes nothing
	ErrTypeNoRate        = "no_rate"        // another attempt may do
)

// Account is a balance in a currency.
type Account struct {
	ID       string  `json:"id"`
	Currency string  `json:"currency"`
	Balance  float64 `json:"balance"`
	Closed   bool    `json:"-"` // what a list made some minutes ago does not know
}

// Currency is a currency with the rate it had yesterday, in percent a year.
type Currency struct {
	Code      string  `json:"code"`
	Yesterday float64 `json:"yesterday"`
}

// Bank has accounts and rates, and somebody to tell when things go wrong. It
// stands for the systems that a real batch would call.
type Bank struct {
	Accounts   []Account
	Currencies []Currency
	Rates      map[string]float64 // of today, by currency

	mu     sync.Mutex
	posted map[string]float64 // interest, by idempotency key
	alarms []AlarmInput
}

// NewBank makes a bank with ten accounts, A1 to A10. A7 is closed, and there is no
// rate for NOK today.
func NewBank() *Bank {
	b := &Bank{
		Currencies: []Currency{{"EUR", 2}, {"SEK", 3}, {"NOK", 4}},
		Rates:      map[string]float64{"EUR": 2.1, "SEK": 3.1},
		posted:     map[string]float64{},
	}
	for i := range 10 {
		b.Accounts = append(b.Accounts, Account{
			ID: fmt.Sprintf("A%d", i+1), Currency: b.Currencies[i%3].Code, Balance: float64(1000 * (i + 1)), Closed: i == 6,
		})
	}
	return b
}

// Listing is what there is to do.
type Listing struct {
	Accounts   []Account  `json:"accounts"`
	Currencies []Currency `json:"currencies"`
}

// List is the action list-accounts.
func (b *Bank) List(context.Context, struct{}) (Listing, error) {
	return Listing{Accounts: b.Accounts, Currencies: b.Currencies}, nil
}

// RateInput names a currency.
type RateInput struct {
	Currency string `json:"currency"`
}

// Rate is the action rate-of: today's rate, in percent a year.
func (b *Bank) Rate(_ context.Context, in RateInput) (float64, error) {
	rate, known := b.Rates[in.Currency]
	if !known {
		return 0, tidemill.NewError(ErrTypeNoRate, "there is no rate for "+in.Currency+" today")
	}
	return rate, nil
}

// PostInput is the interest of a day to post.
type PostInput struct {
	Account string  `json:"account"`
	Day     string  `json:"day"`
	Balance float64 `json:"balance"`
	Rate    float64 `json:"rate"` // percent a year
}

// Posting is the interest that an account was given.
type Posting struct {
	Interest float64 `json:"interest"`
}

// Post is the action post-interest. An attempt that is made again, after a lost
// worker for example, has the same key and posts nothing twice.
func (b *Bank) Post(ctx context.Context, in PostInput) (Posting, error) {
	for _, account := range b.Accounts {
		if account.ID == in.Account && account.Closed {
			return Posting{}, tidemill.NewError(ErrTypeAccountClosed, "account "+in.Account+" is closed").NotRetryable()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	interest := math.Round(in.Balance*in.Rate/365) / 100
	b.posted[tidemill.Info(ctx).Key] = interest
	return Posting{Interest: interest}, nil
}

// AlarmInput is what somebody is to be told.
type AlarmInput struct {
	Text     string          `json:"text"`
	Accounts []FailedAccount `json:"accounts"`
}

// FailedAccount is an account that got no interest, and why.
type FailedAccount struct {
	Account string `json:"account"`
	Error   string `json:"error"` // its type
}

// Alarm is the action alarm. A real one would send a message.
func (b *Bank) Alarm(_ context.Context, in AlarmInput) (tidemill.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alarms = append(b.alarms, in)
	return tidemill.OK(), nil
}

// Alarms are the alarms raised so far.
func (b *Bank) Alarms() []AlarmInput {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]AlarmInput(nil), b.alarms...)
}

// Posted is how many postings were made.
func (b *Bank) Posted() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.posted)
}
