package graph

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// ChildState is what a run knows of having been started by another one.
type ChildState struct {
	Prefix Address `json:"prefix"`        // begins the addresses of its activations
	Root   string  `json:"root"`          // workflow id of the outermost run
	Map    bool    `json:"map,omitempty"` // it carries out one map of its graph
	// Began holds a digest of every state key at the start, and Own what the run's
	// own deltas make of the keys that combine values, from nothing: together they
	// tell what the run changed.
	Began value.Object `json:"began,omitempty"`
	Own   value.Object `json:"own,omitempty"`
}

func (c *ChildState) runsMap() bool { return c != nil && c.Map }

func (c *ChildState) size() int {
	if c == nil {
		return 0
	}
	return c.Began.Size() + c.Own.Size()
}

// prefix begins the addresses of the run's activations.
func (cp *Checkpoint) prefix() Address {
	if cp.Child == nil {
		return ""
	}
	return cp.Child.Prefix
}

// root is the workflow id of the outermost run.
func (m *Machine) root() string {
	if m.cp.Child == nil {
		return m.facts.ID
	}
	return m.cp.Child.Root
}

// digestBytes is how much of a value's digest tells whether it changed.
const digestBytes = 32

func shortDigest(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(strconv.Quote(value.Digest(raw)[:digestBytes]))
}

// beChild makes a fresh machine that of a child.
func (m *Machine) beChild(now time.Time, c *ChildStart) error {
	m.cp.Lineage = c.Lineage
	m.cp.Child = &ChildState{Prefix: c.Address, Root: c.Root, Map: c.Map != nil}
	for _, member := range m.cp.State {
		m.cp.Child.Began.Set(member.Key, shortDigest(member.Value))
	}
	m.cp.Clock.limitChild(c)
	if c.Map == nil {
		return nil
	}
	node, leaf := m.plan.Node(c.Map.Node), c.Address.Leaf()
	if node == nil || node.Type != TypeMap || leaf.Node != node.ID {
		return fmt.Errorf("graph: %q is not a map of this graph", c.Map.Node)
	}
	mapping, err := newMapping(c.Address, c.Map.Items, c.Map.Keys)
	if err != nil {
		return err
	}
	m.record(node.ID).Visits = leaf.Epoch
	m.cp.Activations = []Activation{{Node: node.ID, Address: c.Address, Input: orNull(c.Map.Input)}}
	m.openMap(now, node, &m.cp.Activations[0], mapping)
	return nil
}

// limitChild bounds the budget of a child by what its parent grants.
func (c *Clock) limitChild(s *ChildStart) {
	c.limit(s.Left)
	if s.Timeout > 0 && (!c.Limited || s.Timeout < c.Left) {
		c.limit(s.Timeout)
		c.Timeout = true
	}
}

// limit bounds a budget that has not begun to run.
func (c *Clock) limit(most Duration) {
	if most > 0 && (!c.Limited || most < c.Left) {
		*c = Clock{Limited: true, Left: most}
	}
}

// own adds to what a child's own deltas make of keys that combine values.
func (m *Machine) own(deltas ...value.Object) *Failure {
	child := m.cp.Child
	if child == nil {
		return nil
	}
	made := child.Own
	for _, delta := range deltas {
		var combined value.Object
		for _, member := range delta {
			if m.combines(member.Key) {
				combined.Set(member.Key, member.Value)
			}
		}
		var failure *Failure
		if made, failure = m.reduce(made, combined); failure != nil {
			return failure
		}
	}
	child.Own = made
	return nil
}

// ChildResult is what a completed child gives its parent.
func (m *Machine) ChildResult() ChildResult {
	var changed value.Object
	for _, member := range m.cp.State {
		if m.cp.Child == nil || m.cp.Child.Map {
			break
		}
		if own, made := m.cp.Child.Own.Get(member.Key); made {
			changed.Set(member.Key, own)
			continue
		}
		began, had := m.cp.Child.Began.Get(member.Key)
		if !had || string(began) != string(shortDigest(member.Value)) {
			changed.Set(member.Key, member.Value)
		}
	}
	result := ChildResult{Changed: changed.Raw()}
	if m.cp.Outcome != nil {
		result.Output = m.cp.Outcome.Output
	}
	return result
}

// TellsParent is how a child stands, with all its open pauses; the driver tells the
// parent what of it is new ([ChildReport.Since]), counts the reports and adds the
// replies.
func (m *Machine) TellsParent() ChildReport {
	return ChildReport{Address: m.cp.prefix(), Paused: m.Paused(), Pauses: m.Pauses()}
}
