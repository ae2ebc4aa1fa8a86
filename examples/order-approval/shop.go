package orderapproval

import (
	"context"
	"fmt"
	"sync"

	"github.com/tidemill/tidemill"
)

// Error types of the actions; the graphs route on them.
const (
	ErrTypeUnknownOrder  = "unknown_order"  // asking again changes nothing
	ErrTypeUnknownItem   = "unknown_item"   // the price list has no such item
	ErrTypeBureauSilent  = "bureau_silent"  // the credit bureau does not answer
	ErrTypeUnknownPerson = "unknown_person" // the credit bureau does not know the customer
)

// Line is one line of an order.
type Line struct {
	Item     string `json:"item"`
	Quantity int    `json:"quantity"`
}

// Order is what somebody wants to buy.
type Order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Lines    []Line `json:"lines"`
}

// Shop has orders, a price list, a credit bureau to ask, and a book of what was
// placed. It stands for four systems that a real shop would call.
type Shop struct {
	Prices map[string]int // by item

	mu     sync.Mutex
	orders map[string]Order
	scores map[string]int    // of customers; from 0 to 100
	silent map[string]int    // by customer: how often the bureau does not answer yet
	placed map[string]string // number by idempotency key
}

// NewShop makes a shop with the orders 1 (small), 2 (large) and 3, whose customer
// the bureau is silent about.
func NewShop() *Shop {
	s := &Shop{
		Prices: map[string]int{"chair": 120, "desk": 900, "lamp": 45},
		orders: map[string]Order{}, scores: map[string]int{}, silent: map[string]int{}, placed: map[string]string{},
	}
	s.Put(Order{ID: "1", Customer: "ada", Lines: []Line{{"lamp", 2}, {"chair", 1}}}, 90)
	s.Put(Order{ID: "2", Customer: "ada", Lines: []Line{{"desk", 2}}}, 90)
	s.Put(Order{ID: "3", Customer: "nemo", Lines: []Line{{"lamp", 1}}}, 90)
	const always = 1 << 30
	s.Silence("nemo", always)
	return s
}

// Put adds an order, and what the bureau says of its customer.
func (s *Shop) Put(order Order, score int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders[order.ID] = order
	s.scores[order.Customer] = score
}

// Silence makes the bureau leave the next questions about a customer unanswered.
func (s *Shop) Silence(customer string, questions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent[customer] = questions
}

// LoadInput names an order.
type LoadInput struct {
	Order string `json:"order"`
}

// Load is the action load-order.
func (s *Shop) Load(_ context.Context, in LoadInput) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, known := s.orders[in.Order]
	if !known {
		return Order{}, tidemill.NewError(ErrTypeUnknownOrder, fmt.Sprintf("there is no order %q", in.Order)).NotRetryable()
	}
	return order, nil
}

// PriceInput is what is to be priced.
type PriceInput struct {
	Lines []Line `json:"lines"`
}

// Price is the action price-order: what the lines cost together.
func (s *Shop) Price(_ context.Context, in PriceInput) (int, error) {
	total := 0
	for _, line := range in.Lines {
		price, known := s.Prices[line.Item]
		if !known {
			return 0, tidemill.NewError(ErrTypeUnknownItem, fmt.Sprintf("nobody sells %q", line.Item)).NotRetryable()
		}
		total += price * line.Quantity
	}
	return total, nil
}

// ScoreInput names a customer.
type ScoreInput struct {
	Customer string `json:"customer"`
}

// Score is the action score-customer: how far the bureau trusts a customer.
func (s *Shop) Score(_ context.Context, in ScoreInput) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent[in.Customer] > 0 {
		s.silent[in.Customer]--
		return 0, tidemill.NewError(ErrTypeBureauSilent, "the credit bureau does not answer")
	}
	score, known := s.scores[in.Customer]
	if !known {
		return 0, tidemill.NewError(ErrTypeUnknownPerson, fmt.Sprintf("the credit bureau does not know %q", in.Customer)).NotRetryable()
	}
	return score, nil
}

// PlaceInput is an order to place.
type PlaceInput struct {
	Order string `json:"order"`
	Total int    `json:"total"`
}

// Place is the action place-order: it gives the number under which the order
// stands in the book. An attempt that is made again, after a lost worker for
// example, has the same key, and finds what the first has written.
func (s *Shop) Place(ctx context.Context, in PlaceInput) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := tidemill.Info(ctx).Key
	if _, done := s.placed[key]; !done {
		s.placed[key] = fmt.Sprintf("N%d-%s", len(s.placed)+1, in.Order)
	}
	return s.placed[key], nil
}
