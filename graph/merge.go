package graph

import (
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph/value"
)

// MergeKind is how the deltas of branches become one.
type MergeKind string

// The merge policies. Keys with an append or sum reducer never conflict: each
// branch's value goes through the reducer, in declared order.
const (
	MergeReject   MergeKind = "reject_conflicts"  // two different values of one key are an error
	MergeLastWins MergeKind = "ordered_last_wins" // the branch declared later
	MergeCall     MergeKind = "call"              // a callback
)

// join commits a decided fork: the deltas of its completed branches become
// one, go through the reducers once, and the join is entered with what the
// branches gave.
func (m *Machine) join(node *Node, a *Activation, decider Decider) bool {
	given := collected(node, a.Branches)
	if tooDeep(given) {
		m.fail(a, Failf(ErrTypeInvalidOutput,
			"the outputs of the branches together are nested more than %d levels deep; let the branches give flatter ones", value.MaxDepth))
		return true
	}
	if node.OutputSchema != nil && a.Checks == 0 {
		d, ok := m.ask(a, decider, Question{Kind: AskSchema, Schema: node.OutputSchema, Subject: given})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, Failf(ErrTypeNodeOutputSchema, "%s", d.Failure.Message))
			return true
		}
		a.Checks = 1
	}
	state, deltas, failure, ok := m.merge(node, a, decider)
	if failure == nil {
		failure = m.own(deltas...)
	}
	switch {
	case !ok:
		return false
	case failure != nil:
		m.fail(a, failure)
		return true
	}
	if failure := m.carry(a, state, len(given), len(given)); failure != nil {
		m.fail(a, failure)
		return true
	}
	m.cp.State, m.cp.Output = state, given
	m.mark(a, NodeCompleted)
	*a = Activation{Node: node.Join, Phase: PhaseReady, Input: given, Loops: m.frames(a.Loops, node.Join)}
	return true
}

// merge is the state after the fork, and the deltas that made it.
func (m *Machine) merge(node *Node, a *Activation, decider Decider) (value.Object, []value.Object, *Failure, bool) {
	var deltas []value.Object
	switch node.Merge {
	case MergeCall:
		d, ok := m.ask(a, decider, Question{Kind: AskMerge, Scope: Scope{Input: a.Input}, Subject: mergeSubject(a.Branches)})
		if !ok || d.Failure != nil {
			return nil, nil, d.Failure, ok
		}
		deltas = []value.Object{d.Delta}
	case MergeReject:
		if failure := m.conflict(a.Branches); failure != nil {
			return nil, nil, failure, true
		}
		deltas = m.surviving(a.Branches)
	case MergeLastWins:
		deltas = m.surviving(a.Branches)
	}
	state := m.cp.State
	for _, delta := range deltas {
		var failure *Failure
		if state, failure = m.reduce(state, delta); failure != nil {
			return nil, nil, failure, true
		}
	}
	return state, deltas, nil, true
}

// combines reports whether a key's reducer takes the values of several
// branches.
func (m *Machine) combines(key string) bool {
	return m.reducer(key).combines()
}

// conflict finds two branches that set one key to different values. It names
// the first owner and the later branch.
func (m *Machine) conflict(branches []Branch) *Failure {
	owners := map[string]int{}
	for i, b := range branches {
		if b.Status != BranchCompleted {
			continue
		}
		for _, member := range b.Delta {
			first, taken := owners[member.Key]
			if !taken {
				owners[member.Key] = i
				continue
			}
			before, _ := branches[first].Delta.Get(member.Key)
			if !m.combines(member.Key) && !value.Equal(before, member.Value) {
				return Failf(ErrTypeForkMergeFailed,
					"branches %s and %s set state key %q to different values", branches[first].ID, b.ID, member.Key)
			}
		}
	}
	return nil
}

// surviving are the deltas to reduce, in declared order: all values of keys
// that combine, and of each other key the one declared last.
func (m *Machine) surviving(branches []Branch) []value.Object {
	last := map[string]int{}
	for i, b := range branches {
		if b.Status == BranchCompleted {
			for _, member := range b.Delta {
				last[member.Key] = i
			}
		}
	}
	var deltas []value.Object
	for i, b := range branches {
		if b.Status != BranchCompleted {
			continue
		}
		var delta value.Object
		for _, member := range b.Delta {
			if last[member.Key] == i || m.combines(member.Key) {
				delta = append(delta, member)
			}
		}
		deltas = append(deltas, delta)
	}
	return deltas
}

// mergeSubject is what a merge callback is given: [{id, output, delta}] of the
// completed branches, in declared order.
func mergeSubject(branches []Branch) json.RawMessage {
	type entry struct {
		ID     string          `json:"id"`
		Output json.RawMessage `json:"output"`
		Delta  value.Object    `json:"delta"`
	}
	list := []entry{}
	for _, b := range branches {
		if b.Status == BranchCompleted {
			list = append(list, entry{b.ID, orNull(b.Output), b.Delta})
		}
	}
	raw, err := value.Marshal(list)
	if err != nil {
		return json.RawMessage("[]")
	}
	return raw
}

// collected is the join's input: the outputs of the completed branches by id,
// or with collect every branch as {status, output, error}.
func collected(node *Node, branches []Branch) json.RawMessage {
	var all value.Object
	for _, b := range branches {
		switch {
		case node.JoinPolicy.Kind == JoinCollect:
			failure := json.RawMessage("null")
			if b.Failure != nil {
				failure = b.Failure.Value()
			}
			all.Set(b.ID, json.RawMessage(fmt.Sprintf(`{"error":%s,"output":%s,"status":%q}`,
				failure, orNull(b.Output), string(b.Status))))
		case b.Status == BranchCompleted:
			all.Set(b.ID, orNull(b.Output))
		}
	}
	return all.Raw()
}
