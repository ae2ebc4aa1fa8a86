package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// resume starts the child that an earlier run of an activation had, where it stood,
// under its own address. It reports false when there is none.
func (m *Machine) resume(now time.Time, node *Node, a *Activation) bool {
	i := m.resumed(a.Address)
	if i < 0 {
		return false
	}
	child := m.cp.Resume[i].Export
	if child.completed() {
		m.takeResult(a, child.Checkpoint)
		return true
	}
	e := StartChild{Graph: child.Checkpoint.Graph, Input: child.Input}
	if e.Input == nil {
		e.Input = []byte("{}")
	}
	e.Start = ChildStart{
		Version:     2,
		Fingerprint: child.Checkpoint.Fingerprint, Address: child.Checkpoint.prefix(), Redriven: &child,
		Deadline: node.Deadline, Timeout: max(node.Timeout, 0), // none is negative
	}
	if node.Type == TypeMap { // what it has of the list stands in its checkpoint
		e.Start.Map, e.Start.Timeout = &MapStart{Node: node.ID, Input: orNull(nil), Items: []byte("[]")}, 0
	} else {
		e.Document = node.Workflow.Document
	}
	m.startChild(now, node, a, e)
	return true
}

// takeResult gives an activation what its child gave in an earlier run.
func (m *Machine) takeResult(a *Activation, child Checkpoint) {
	m.forgetResume(a.Address)
	given := (&Machine{cp: child}).ChildResult()
	changed, err := value.ParseObject(given.Changed)
	if err != nil {
		m.fail(a, Failf(ErrTypeInvalidOutput, "what the child changed cannot be read: %v", err))
		return
	}
	a.Attempts++
	m.returnChild(a, &Result{Output: given.Output, Delta: changed})
}

func (m *Machine) resumed(address Address) int {
	return slices.IndexFunc(m.cp.Resume, func(c ExportedChild) bool { return c.Activation == address && address != "" })
}

// forgetResume drops where a child stood: it has begun, or will not.
func (m *Machine) forgetResume(address Address) {
	if i := m.resumed(address); i >= 0 {
		m.cp.Resume = slices.Delete(slices.Clone(m.cp.Resume), i, i+1)
	}
}

// resumeSize is about how many bytes the children that are not started yet take.
func (cp *Checkpoint) resumeSize() int {
	size := 0
	for i := range cp.Resume {
		size += cp.Resume[i].Size()
	}
	return size
}

// Size is about how many bytes an export takes, without its documents.
func (e *Export) Size() int {
	size := len(e.Input) + e.Checkpoint.size()
	for i := range e.Children {
		size += e.Children[i].Size()
	}
	return size
}

// size is about how many bytes of data a checkpoint holds.
func (cp *Checkpoint) size() int {
	const frame = 200 // of an activation, a record or an answer
	size := cp.State.Size() + len(cp.Output) + cp.Child.size() + cp.resumeSize()
	size += frame * (1 + len(cp.Activations) + len(cp.Answers) + len(cp.Rejected.Last))
	for i := range cp.Activations {
		size += cp.Activations[i].holds() + cp.Activations[i].Failure.size()
	}
	return size
}

// checkResume makes sure that every child that is to go on belongs to an activation,
// or to a branch or an item that is not started yet.
func (cp *Checkpoint) checkResume(p *Plan) error {
	if len(cp.Resume) == 0 {
		return nil
	}
	seen := map[Address]bool{}
	owners := cp.runners()
	for i := range cp.Resume {
		c := &cp.Resume[i]
		node := p.Node(owners[c.Activation])
		if node == nil || node.Type != TypeWorkflow && node.Type != TypeMap || seen[c.Activation] {
			return fmt.Errorf("a child of %q, which runs none", c.Activation)
		}
		seen[c.Activation] = true
		if err := c.check(); err != nil {
			return err
		}
		if runs := c.Checkpoint.Child.Map; runs != (node.Type == TypeMap) {
			return fmt.Errorf("the child of %q is none of a %s", c.Activation, node.Type)
		}
	}
	return nil
}

// runners are the nodes of all addresses that are under way or will be: of
// activations, and of branches and items that are not started.
func (cp *Checkpoint) runners() map[Address]string {
	nodes := map[Address]string{}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		nodes[a.Address] = a.Node
		for _, b := range a.Branches {
			if b.Address != "" && b.Status == BranchUnstarted {
				nodes[b.Address] = b.ID
				b.Mapping.waiting(nodes, b.ID)
			}
		}
		a.Mapping.waiting(nodes, a.Node)
	}
	delete(nodes, "")
	return nodes
}

// waiting adds the items that are not started.
func (mp *Mapping) waiting(nodes map[Address]string, mapID string) {
	for i := range mp.len() {
		if mp.Items[i].Status == BranchUnstarted {
			nodes[mp.address(i)] = ItemID(mapID)
		}
	}
}

// check holds a child's address against the activation that it belongs to.
func (c *ExportedChild) check() error {
	if c.Checkpoint.Child == nil {
		return errors.New("a child's checkpoint is none of a child")
	}
	prefix := c.Checkpoint.Child.Prefix
	rest, under := strings.CutPrefix(string(prefix), string(c.Activation))
	if !under || rest != "" && !strings.HasPrefix(rest, "~") || prefix.Segments() == nil {
		return fmt.Errorf("the child of %q works under %q", c.Activation, prefix)
	}
	return nil
}

// Redriven makes the machine of a run that takes up an earlier one. Its checkpoint is
// what [Redrive] made of that; what a child's is bound to now, its parent says.
func Redriven(p *Plan, e Export, s Start) (*Machine, *Failure) {
	cp := e.Checkpoint
	if failure := cp.belongs(s.Child); failure != nil {
		return nil, failure
	}
	if s.Child != nil {
		cp.Clock = newClock(p, s.Child.Deadline)
		cp.Clock.limitChild(s.Child)
		child := *cp.Child
		child.Root = s.Child.Root
		cp.Child = &child
	}
	return Restore(p, cp, s)
}

// belongs refuses the checkpoint of a child where a root begins, and the other way
// round.
func (cp *Checkpoint) belongs(s *ChildStart) *Failure {
	switch {
	case s == nil && cp.Child != nil:
		return Failf(ErrTypeInvalidCheckpoint,
			"the checkpoint is of a part of the run %q, at %s: redrive that run, from an address below it", cp.Child.Root, cp.Child.Prefix)
	case s == nil:
		return nil
	case cp.Child == nil || cp.Child.Prefix != s.Address || cp.Lineage != s.Lineage || cp.Child.Map != (s.Map != nil):
		return Failf(ErrTypeInvalidCheckpoint, "the checkpoint is none of the child at %s", s.Address)
	}
	return nil
}
