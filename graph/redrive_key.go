package graph

import "strings"

// Keyed takes a text apart in which an item of a map is named by its key, as in
// each#1/acme/charge#1: into the address of the map, and what follows it. It is false
// for a text that is an address as it stands, and for one that does not begin with an
// address.
func Keyed(text string) (over Address, rest string, ok bool) {
	if _, err := ParseAddress(text); err == nil {
		return "", "", false
	}
	for i := range len(text) {
		if text[i] != '/' {
			continue
		}
		if _, err := ParseAddress(text[:i]); err != nil {
			break
		}
		over, rest, ok = Address(text[:i]), text[i+1:], true
	}
	return over, rest, ok
}

// Item puts the number of an item in place of its key: over and rest are what [Keyed]
// gives, and the map is one whose items the export holds, here or in a child. More keys
// may follow. As in the names of pauses, a key that is the number of an item names none.
//
// The failure's type is [ErrTypeInvalidRunOptions]: there is no such map, no such key,
// or more than one item has it.
func (e *Export) Item(over Address, rest string) (Address, *Failure) {
	var found []Address
	var keys []string
	for _, mp := range e.mappings() {
		for i := range mp.Items {
			key := mp.Items[i].Key
			if mp.base(i) != over || key == "" || mp.numbers(key) {
				continue
			}
			keys = append(keys, key)
			if below, is := strings.CutPrefix(rest, key); is && (below == "" || below[0] == '/') {
				found = append(found, mp.address(i)+Address(below))
			}
		}
	}
	switch {
	case len(keys) == 0:
		return "", NoItem(over, rest)
	case len(found) == 0:
		return "", Failf(ErrTypeInvalidRunOptions, "no item of the map %s has a key that %q begins with; its keys are %s", over, rest, listed(keys))
	case len(found) > 1:
		return "", Failf(ErrTypeInvalidRunOptions, "%q may be %s; name the item of the map by its number", string(over)+"/"+rest, listed(found))
	}
	return found[0], nil
}

// NoItem is the failure of a text that [Keyed] took apart though nothing there is a map
// with keys.
func NoItem(over Address, rest string) *Failure {
	return Failf(ErrTypeInvalidRunOptions,
		"%q is no address, for %s is no map whose items have keys; a visit of a node is written ship#1, and an item without a key by its number, each#1/17",
		string(over)+"/"+rest, over)
}

// mappings are the maps of which the export holds the items, children's included.
func (e *Export) mappings() []*Mapping {
	var all []*Mapping
	for i := range e.Checkpoint.Activations {
		a := &e.Checkpoint.Activations[i]
		if a.Mapping != nil {
			all = append(all, a.Mapping)
		}
		for j := range a.Branches {
			if mp := a.Branches[j].Mapping; mp != nil {
				all = append(all, mp)
			}
		}
	}
	for i := range e.Children {
		all = append(all, e.Children[i].mappings()...)
	}
	return all
}
