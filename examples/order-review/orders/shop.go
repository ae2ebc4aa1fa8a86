package orders

import (
	"fmt"
	"maps"
	"sync"
)

// Order is something that a customer wants.
type Order struct {
	ID    string `json:"id"`
	Total int    `json:"total"` // whole units of currency
	Items []Item `json:"items"`
}

// Item is one line of an order.
type Item struct {
	Name     string `json:"name"`
	Quantity int    `json:"quantity"`
}

// Parcel is an order on its way.
type Parcel struct {
	ID     string `json:"id"`
	Order  string `json:"order"`
	Status string `json:"status"` // [StatusShipped], later [StatusDelivered]
}

// What the status of a parcel can be.
const (
	StatusShipped   = "shipped"
	StatusDelivered = "delivered"
)

// looksUntilDelivered is how often a parcel is looked at until it has arrived.
const looksUntilDelivered = 2

// shop is what the server knows. Its methods may be called from several
// goroutines.
type shop struct {
	mu      sync.Mutex
	orders  map[string]Order
	broken  map[string]bool          // orders that are answered with 503
	held    map[string]chan struct{} // orders whose shipping waits until it is closed
	parcels []*parcel                // in the order they were made
	calls   map[string]int           // by method and path
}

// parcel is a Parcel with what only the shop knows of it.
type parcel struct {
	Parcel

	key   string // idempotency key it was made under; empty if none was sent
	looks int
}

func newShop() *shop {
	s := &shop{
		orders: map[string]Order{}, broken: map[string]bool{}, held: map[string]chan struct{}{}, calls: map[string]int{},
	}
	for _, order := range samples() {
		s.orders[order.ID] = order
	}
	s.broken["broken"] = true
	return s
}

// samples are the orders of a new shop.
func samples() []Order {
	return []Order{
		{ID: "3", Total: 80, Items: []Item{{Name: "lamp", Quantity: 2}}},
		{ID: "7", Total: 1500, Items: []Item{{Name: "desk", Quantity: 1}, {Name: "chair", Quantity: 4}}},
		{ID: "9", Total: 2400, Items: []Item{{Name: "sofa", Quantity: 1}}},
	}
}

// count notes a call.
func (s *shop) count(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call]++
}

func (s *shop) counted() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

func (s *shop) put(order Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders[order.ID] = order
}

func (s *shop) setBroken(id string, broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken[id] = broken
}

func (s *shop) hold(id string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.held[id] = gate
	return sync.OnceFunc(func() { close(gate) })
}

// gate is closed once the order may be shipped; nil when nothing holds it.
func (s *shop) gate(id string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[id]
}

func (s *shop) isBroken(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken[id]
}

func (s *shop) order(id string) (Order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, ok := s.orders[id]
	return order, ok
}

// ship makes a parcel, or finds the one that was made under the same key.
func (s *shop) ship(order, key string) Parcel {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parcels {
		if key != "" && p.key == key {
			return p.Parcel
		}
	}
	p := &parcel{key: key, Parcel: Parcel{
		ID: fmt.Sprintf("P%d", len(s.parcels)+1), Order: order, Status: StatusShipped,
	}}
	s.parcels = append(s.parcels, p)
	return p.Parcel
}

// look finds a parcel, which a look brings nearer to its door.
func (s *shop) look(id string) (Parcel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parcels {
		if p.ID != id {
			continue
		}
		if p.looks++; p.looks >= looksUntilDelivered {
			p.Status = StatusDelivered
		}
		return p.Parcel, true
	}
	return Parcel{}, false
}

func (s *shop) parcelsOf(order string) []Parcel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Parcel
	for _, p := range s.parcels {
		if p.Order == order {
			found = append(found, p.Parcel)
		}
	}
	return found
}
