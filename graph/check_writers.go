package graph

import (
	"encoding/json"
	"slices"

	"github.com/tidemill/tidemill/graph/value"
)

// writers reports branches that set one state key to different values, as far
// as the document shows it: that their fork would fail is better said before
// anything has run.
func (c *checker) writers(fork *Node, from *origin) {
	if fork.Merge != MergeReject || fork.JoinPolicy.mostCompleted(len(fork.Branches)) < 2 {
		return
	}
	type writer struct {
		branch string
		value  json.RawMessage
	}
	first := map[string]writer{}
	for j, id := range fork.Branches {
		i, known := c.index[id]
		if !known || slices.Index(fork.Branches, id) != j {
			continue
		}
		for _, member := range c.document.Nodes[i].writes() {
			before, taken := first[member.Key]
			if !taken {
				first[member.Key] = writer{id, member.Value}
				continue
			}
			c.conflict(fork, from.at.key("branches").item(j), member, id, before.branch, before.value)
		}
	}
}

// conflict reports two branches that set one key, unless that can go well.
func (c *checker) conflict(fork *Node, at pointer, member value.Member, later, earlier string, before json.RawMessage) {
	const fix = "set different keys, give the key a reducer (append or sum), or write merge: ordered_last_wins"
	known := literal(before) && literal(member.Value)
	switch {
	case c.combines(member.Key) || known && value.Equal(before, member.Value):
	case known && fork.JoinPolicy.needsAll(len(fork.Branches)):
		c.fail(at, codeConflictingWriters, fix, "the branches %s and %s set the state key %q to different values", earlier, later, member.Key)
	default:
		c.warn(at, codePossibleConflict, fix,
			"the branches %s and %s both set the state key %q: when the values differ the fork fails with %s",
			earlier, later, member.Key, ErrTypeForkMergeFailed)
	}
}

// combines reports whether a key has a reducer that takes several values.
func (c *checker) combines(key string) bool {
	return slices.ContainsFunc(c.document.Reducers, func(r Reducer) bool { return r.Key == key && r.Kind.combines() })
}

// writes are the state keys that a node's delta names.
func (n *Node) writes() value.Object {
	if n.Delta == nil || value.KindOf(n.Delta) != value.KindObject {
		return nil
	}
	delta, err := value.ParseObject(n.Delta)
	if err != nil {
		return nil
	}
	return delta
}

// mostCompleted is how many branches a join may be given.
func (p *JoinPolicy) mostCompleted(branches int) int {
	switch p.Kind {
	case JoinAny, JoinFirstSuccess:
		return 1
	case JoinQuorum:
		return p.N
	case JoinAll, JoinCollect:
		return branches
	default:
		return branches
	}
}

// needsAll reports whether every branch that completes is merged, and none can
// be left out.
func (p *JoinPolicy) needsAll(branches int) bool { return p.mostCompleted(branches) == branches }
