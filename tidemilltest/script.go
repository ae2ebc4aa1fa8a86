package tidemilltest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/tidemill/tidemill/graph"
)

// script hands out the steps of fakes, each once.
type script struct {
	scenario *Scenario

	mu   sync.Mutex // on a server, actions run side by side
	used map[string]int
}

func newScript(s *Scenario) *script { return &script{scenario: s, used: map[string]int{}} }

// take is the next step of the fake for a call; false when there is no fake.
func (s *script) take(name string, address graph.Address) (Step, bool, error) {
	return s.find(faked{s.scenario.Fakes, "", name}, address)
}

// child is the same for a child graph.
func (s *script) child(graphID string, address graph.Address) (Step, bool, error) {
	return s.find(faked{s.scenario.Children, kindGraph, graphID}, address)
}

func (s *script) find(last faked, address graph.Address) (Step, bool, error) {
	for _, by := range append(s.nodes(address), last) {
		fake, known := by.fakes[by.name]
		if !known {
			continue
		}
		step, err := s.next(by.kind+by.name, fake)
		if err != nil {
			return Step{}, true, fmt.Errorf("%s is called at %s: %w", last.name, address, err)
		}
		return step, true, nil
	}
	return Step{}, false, nil
}

// faked is a place where the fake of a call may be.
type faked struct {
	fakes      Fakes
	kind, name string
}

// The kinds of fakes: what stands before their names.
const (
	kindAction = ""
	kindNode   = "node "
	kindGraph  = "graph "
)

// nodes are the places where the fake of a visit is looked for, the first wins.
func (s *script) nodes(address graph.Address) []faked {
	node := address.Leaf().Node
	if node == "" { // an item: its node is the map
		segments := address.Segments()
		if len(segments) > 1 {
			node = segments[len(segments)-2].Node
		}
	}
	nodes := s.scenario.Nodes
	return []faked{{nodes, kindNode, string(address)}, {nodes, kindNode, short(string(address))}, {nodes, kindNode, node}}
}

func (s *script) next(key string, fake Fake) (Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fake.always {
		return fake.steps[0], nil
	}
	at := s.used[key]
	if at >= len(fake.steps) {
		return Step{}, fmt.Errorf("its fake has %d steps and all are used; give another, or one that holds always", len(fake.steps))
	}
	s.used[key]++
	return fake.steps[at], nil
}

// groups are all fakes, by kind.
func (s *script) groups() []faked {
	return []faked{{s.scenario.Fakes, kindAction, ""}, {s.scenario.Nodes, kindNode, ""}, {s.scenario.Children, kindGraph, ""}}
}

// left says which fakes have steps that no call came for.
func (s *script) left() []string {
	var unused []string
	for _, group := range s.groups() {
		for _, name := range sortedNames(group.fakes) {
			fake := group.fakes[name]
			if used := s.used[group.kind+name]; !fake.always && used < len(fake.steps) {
				unused = append(unused, fmt.Sprintf("the fake of %s%s has %d steps and %d were used", group.kind, name, len(fake.steps), used))
			}
		}
	}
	return unused
}

func sortedNames(fakes Fakes) []string {
	names := make([]string, 0, len(fakes))
	for name := range fakes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
