package admission

import (
	"strconv"
	"strings"
)

// lane holds the waiting requests of one flow that pass the same gates, first
// in, first out.
type lane struct {
	sign    string
	flow    *flow
	gates   []*gate
	queue   heap[*entry]
	held    *entry // the claim of the lane: nothing else of it is granted before
	members int    // its entries, those that sleep or stand aside too

	// The head as it was when the lane was put into its row.
	eff int64
	seq uint64

	row       *row  // where it is parked or to be tried; nil while it is in hand
	pos       int   // in row.lanes
	blocked   *gate // the gate at which the head failed
	candidate candidate
	nth       int // in Book.lanes
}

// less orders lanes of one flow by their heads.
func (l *lane) less(o *lane) bool { return l.eff < o.eff || l.eff == o.eff && l.seq < o.seq }

func (l *lane) place() *int { return &l.pos }

// candidate is a lane whose head may become a claim, in the list of its flow.
type candidate struct {
	lane  *lane
	since int64 // of the head
	seq   uint64
	at    int
}

func (c *candidate) less(o *candidate) bool {
	return c.since < o.since || c.since == o.since && c.seq < o.seq
}

func (c *candidate) place() *int { return &c.at }

// sign names the set of gates of a request of a flow. A length goes before
// each name, so that two sets never make the same text.
func sign(f *flow, uses, costs []use) string {
	var b strings.Builder
	put := func(kind byte, name string) {
		b.WriteByte(kind)
		b.WriteString(strconv.Itoa(len(name)))
		b.WriteByte(':')
		b.WriteString(name)
	}
	put('f', f.name)
	for _, u := range uses {
		put('k', u.gate.name)
	}
	for _, u := range costs {
		put('r', u.gate.name)
	}
	return b.String()
}
