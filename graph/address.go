package graph

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Address names one activation of one node: every visit of a node has its own.
// Its segments are divided by "/", each with an epoch of its own:
//
//	approve#1             the first visit of approve
//	review#2/approve#1    in the child graph that the second visit of review started
//	review#2~2/approve#1  in that visit's second attempt
//	each#1/17             item 17 of a map
//	each#1/17/approve#1   in the child graph that the item runs
//
// Pause ids, activity ids, child workflow ids and idempotency keys are made
// from it. An address is never used twice in a run's lineage.
type Address string

// ErrAddress is returned by [ParseAddress] for a text that is no address.
var ErrAddress = errors.New("graph: not an address")

// Segment is one part of an Address.
type Segment struct {
	Node    string // node id; empty for a map item
	Epoch   int    // the node's visit, from 1; 0 for a map item
	Attempt int    // of a child graph or a map, from 2; 0 or 1 is not written
	Item    int    // of a map; only when Node is empty
}

// String writes the segment as it stands in an address.
func (s Segment) String() string {
	text := strconv.Itoa(s.Item)
	if s.Node != "" {
		text = s.Node + "#" + strconv.Itoa(s.Epoch)
	}
	if s.Attempt > 1 {
		text += "~" + strconv.Itoa(s.Attempt)
	}
	return text
}

// Join is the address of a segment below a.
func (a Address) Join(s Segment) Address {
	if a == "" {
		return Address(s.String())
	}
	return a + "/" + Address(s.String())
}

// again is the address under which an attempt of a child or a map works. The
// first attempt has the activation's own.
func (a Address) again(attempt int) Address {
	if attempt <= 1 {
		return a
	}
	return a + "~" + Address(strconv.Itoa(attempt))
}

// below is what is left of an address behind a prefix; false when the address
// does not lie below it. Everything lies below the empty one.
func (a Address) below(prefix Address) (Address, bool) {
	if prefix == "" {
		return a, true
	}
	rest, found := strings.CutPrefix(string(a), string(prefix)+"/")
	return Address(rest), found
}

// Segments splits the address. It is empty when a is not an address.
func (a Address) Segments() []Segment {
	segments, err := ParseAddress(string(a))
	if err != nil {
		return nil
	}
	return segments
}

// Leaf is the last segment: the node that is activated.
func (a Address) Leaf() Segment {
	segments := a.Segments()
	if len(segments) == 0 {
		return Segment{}
	}
	return segments[len(segments)-1]
}

// ParseAddress reads an address. What it accepts, [Address.Join] writes again
// to the letter.
func ParseAddress(text string) ([]Segment, error) {
	parts := strings.Split(text, "/")
	segments := make([]Segment, 0, len(parts))
	for _, part := range parts {
		s, err := parseSegment(part)
		if err != nil {
			return nil, fmt.Errorf("%w: %q", err, text)
		}
		segments = append(segments, s)
	}
	if segments[0].Node == "" {
		return nil, fmt.Errorf("%w: %q begins with a map item", ErrAddress, text)
	}
	return segments, nil
}

func parseSegment(part string) (Segment, error) {
	visit, attempt, again := strings.Cut(part, "~")
	node, epoch, visited := strings.Cut(visit, "#")
	var s Segment
	var ok bool
	if visited {
		s.Node = node
		s.Epoch, ok = number(epoch, 1)
		ok = ok && ValidID(node)
	} else {
		s.Item, ok = number(visit, 0)
	}
	if !ok {
		return Segment{}, ErrAddress
	}
	if !again {
		return s, nil
	}
	if s.Attempt, ok = number(attempt, 2); !ok {
		return Segment{}, ErrAddress
	}
	return s, nil
}

// number reads a decimal of at least least, without sign or leading zero.
func number(text string, least int) (int, bool) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || strconv.Itoa(n) != text {
		return 0, false
	}
	return n, true
}

// maxID is the longest id of a graph, a node or a branch.
const maxID = 64

// ValidID reports whether text may name a graph, a node or a branch:
// [A-Za-z_][A-Za-z0-9_-]{0,63}.
func ValidID(text string) bool {
	if text == "" || len(text) > maxID {
		return false
	}
	for i := range len(text) {
		if !idByte(text[i], i == 0) {
			return false
		}
	}
	return true
}

func idByte(b byte, first bool) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', b == '_':
		return true
	case '0' <= b && b <= '9', b == '-':
		return !first
	default:
		return false
	}
}
