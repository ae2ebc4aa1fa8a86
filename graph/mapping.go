package graph

import (
	"encoding/json"
	"fmt"
	"slices"
)

// MaxInlineItems is how many items of a map a run carries out itself. A longer
// list is given to a run of its own.
const MaxInlineItems = 200

// Mapping is a map whose items are under way.
type Mapping struct {
	Base    Address    `json:"base"` // begins the addresses of its items
	Items   []MapItem  `json:"items"`
	Verdict MapVerdict `json:"verdict,omitempty"`
}

// MapItem is how one item of a map stands.
type MapItem struct {
	Value    json.RawMessage `json:"value"`
	Key      string          `json:"key,omitempty"` // its label
	Status   BranchStatus    `json:"status"`
	Output   json.RawMessage `json:"output,omitempty"`
	Failure  *Failure        `json:"failure,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
	// Earlier counts the attempts that were made before a redrive.
	Earlier int `json:"earlier,omitempty"`
	// Base begins the address instead of the mapping's, of an item that a redrive
	// repeats although it had committed.
	Base Address `json:"base,omitempty"`
}

// MapVerdict is why a map takes no more items up.
type MapVerdict string

// The verdicts on a map.
const (
	MapOpen      MapVerdict = ""          // it goes on
	MapExceeded  MapVerdict = "exceeded"  // more items failed than are tolerated
	MapTimedOut  MapVerdict = "timed_out" // its timeout is spent
	MapDismissed MapVerdict = "dismissed" // its fork was decided without it
)

func newMapping(base Address, list json.RawMessage, keys []string) (*Mapping, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, err
	}
	mp := &Mapping{Base: base, Items: make([]MapItem, len(items))}
	for i := range items {
		mp.Items[i] = MapItem{Value: items[i], Status: BranchUnstarted}
		if i < len(keys) {
			mp.Items[i].Key = keys[i]
		}
	}
	return mp, nil
}

func (mp *Mapping) clone() *Mapping {
	if mp == nil {
		return nil
	}
	c := *mp
	c.Items = slices.Clone(mp.Items)
	return &c
}

// size is about how many bytes a map's items take in a checkpoint.
func (mp *Mapping) size() int {
	if mp == nil {
		return 0
	}
	const frame = 32 // of an item
	size := 0
	for i := range mp.Items {
		item := &mp.Items[i]
		size += frame + len(item.Value) + len(item.Key) + len(item.Output) + item.Failure.size()
	}
	return size
}

// base begins the address of an item.
func (mp *Mapping) base(index int) Address {
	if own := mp.Items[index].Base; own != "" {
		return own
	}
	return mp.Base
}

// address is that of an item.
func (mp *Mapping) address(index int) Address { return mp.base(index).Join(Segment{Item: index}) }

func (mp *Mapping) len() int {
	if mp == nil {
		return 0
	}
	return len(mp.Items)
}

// count is how many items stand in a status.
func (mp *Mapping) count(statuses ...BranchStatus) int {
	n := 0
	for i := range mp.Items {
		if slices.Contains(statuses, mp.Items[i].Status) {
			n++
		}
	}
	return n
}

// settle keeps how an item ended.
func (it *MapItem) settle(a *Activation, ended Branch) {
	it.Status, it.Output, it.Failure, it.Attempts, it.Earlier = ended.Status, ended.Output, ended.Failure, a.Attempts, a.Earlier
}

// exceeded reports whether more items failed than are tolerated; without a
// tolerance none may.
func (t *Tolerance) exceeded(failed, total int) bool {
	switch {
	case t == nil:
		return failed > 0
	case t.Percent > 0:
		return float64(failed)*100 > t.Percent*float64(total)
	default:
		return failed > t.Count
	}
}

// String says the tolerance in words.
func (t *Tolerance) String() string {
	switch {
	case t == nil:
		return "none may"
	case t.Percent > 0:
		return fmt.Sprintf("%g %% may", t.Percent)
	default:
		return fmt.Sprintf("%d may", t.Count)
	}
}
