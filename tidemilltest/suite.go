package tidemilltest

import (
	"fmt"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// Suite is a file of test cases.
type Suite struct {
	File  string
	Graph string   // path of the graph, seen from the file's folder; empty: the file's own name without .test
	Files []string // of more graphs, such as children that stand in other folders
	Cases []Case

	names  []name // of fakes, to be looked up in the graph
	newApp func() *tidemill.App
}

// Case is one test case.
type Case struct {
	Name     string
	Line     int
	Scenario Scenario // without App and Graph
	Expect   Expect

	slow string // why a server cannot run it; empty: it can
}

// name is the name of a fake and where it stands.
type name struct {
	kind, name string
	pos        source.Position
	pointer    string
}

// ReadCases reads a file of test cases, YAML or JSON. All that is wrong with it is told
// at once; the suite is then nil.
func ReadCases(file string, data []byte) (*Suite, graph.Diagnostics) {
	r := &reader{file: file}
	root, problems := source.ParseNamed(file, data)
	for _, p := range problems {
		r.failAt(p.Pos, p.Pointer, p.Code, p.Fix, "%s", p.Message)
	}
	if root == nil {
		return nil, r.sorted()
	}
	s := &Suite{File: file}
	common := Scenario{}
	var cases *at
	r.object(at{root, ""}, "a file of test cases",
		field{"graph", r.text("graph", &s.Graph)},
		field{"files", r.texts("files", &s.Files)},
		field{"fakes", s.fakes(r, kindAction, &common.Fakes)},
		field{"nodes", s.fakes(r, kindNode, &common.Nodes)},
		field{"children", s.fakes(r, kindGraph, &common.Children)},
		field{"secrets", r.secrets(&common.Secrets)},
		field{"cases", func(a at) { cases = &a }},
	)
	if cases == nil || cases.node.Kind == source.Array && len(cases.node.Items) == 0 {
		r.fail(at{root, ""}, codeEmpty, "list them under cases", "there are no test cases")
	} else {
		seen := map[string]bool{}
		r.list(*cases, "cases", func(_ int, a at) {
			c := s.readCase(r, a, common)
			if seen[c.Name] && c.Name != "" {
				r.fail(a, codeDuplicateID, "give it another name", "two cases are called %q", c.Name)
			}
			seen[c.Name] = true
			s.Cases = append(s.Cases, c)
		})
	}
	if found := r.sorted(); found.HasErrors() {
		return nil, found
	}
	return s, nil
}

// secrets reads the values that secret('NAME') gives.
func (r *reader) secrets(into *map[string]string) func(at) {
	return func(a at) {
		*into = map[string]string{}
		r.members(a, "secrets", func(m source.Member, v at) {
			var text string
			r.text("a secret", &text)(v)
			(*into)[m.Key] = text
		})
	}
}

// readCase reads one case. What it fakes itself wins over what the file fakes.
func (s *Suite) readCase(r *reader, a at, common Scenario) Case {
	c := Case{Line: a.node.Pos.Line, Scenario: Scenario{Secrets: common.Secrets}}
	own, sc, expected := Scenario{}, &c.Scenario, false
	r.object(a, "a case",
		field{"name", r.text("name", &c.Name)},
		field{"input", r.value(&sc.Input)},
		field{"fakes", s.fakes(r, kindAction, &own.Fakes)},
		field{"nodes", s.fakes(r, kindNode, &own.Nodes)},
		field{"children", s.fakes(r, kindGraph, &own.Children)},
		field{"answers", r.answers(&sc.Answers)},
		field{"cancel", r.cancel(&sc.Cancel)},
		field{"through_pauses", r.truth("through_pauses", &sc.ThroughPauses)},
		field{"permits", r.permits(&sc.Permits)},
		field{"secrets", r.secrets(&sc.Secrets)},
		field{"deadline", r.duration("deadline", &sc.Deadline)},
		field{"max_steps", r.number("max_steps", 1, &sc.MaxSteps)},
		field{"carry", r.truth("carry", &sc.Carry)},
		field{"expect", func(a at) { expected = r.expect(a, &c.Expect) }},
	)
	if c.Name == "" && a.node.Kind == source.Object && a.node.Get("name") == nil {
		r.fail(a, codeEmpty, "", "the case has no name")
	}
	if !expected && a.node.Kind == source.Object && a.node.Get("expect") == nil {
		r.fail(a, codeEmpty, "say what the run does, such as expect: {status: completed}", "the case expects nothing, so it could not fail")
	}
	sc.Fakes, sc.Nodes, sc.Children = over(common.Fakes, own.Fakes), over(common.Nodes, own.Nodes), over(common.Children, own.Children)
	c.slow = slow(&c.Scenario)
	return c
}

// over is fakes with others that win.
func over(common, own Fakes) Fakes {
	all := Fakes{}
	for _, fakes := range []Fakes{common, own} {
		for _, name := range sortedNames(fakes) {
			all[name] = fakes[name]
		}
	}
	return all
}

func (r *reader) answers(into *[]Answer) func(at) {
	return func(a at) {
		r.list(a, "answers", func(_ int, item at) {
			var answer Answer
			given := false
			r.object(item, "an answer",
				field{"pause", r.text("pause", &answer.Pause)},
				field{"input", func(a at) { given = true; r.value(&answer.Input)(a) }},
				field{"after", r.duration("after", &answer.After)},
				field{"at", r.duration("at", &answer.At)},
				field{"actor", r.text("actor", &answer.Actor)},
				field{"note", r.text("note", &answer.Note)},
				field{"times", r.number("times", 1, &answer.Times)},
			)
			switch {
			case item.node.Kind != source.Object:
			case !given:
				r.fail(item, codeEmpty, "null is one", "the answer has no input")
			case answer.At != 0 && answer.After != 0:
				r.fail(item, codeConflicting, "give one", "at is an instant of the run, and after is counted from when the pause opened")
			}
			*into = append(*into, answer)
		})
	}
}

func (r *reader) cancel(into *Cancel) func(at) {
	return func(a at) {
		r.object(a, "cancel",
			field{"at", r.duration("at", &into.At)},
			field{"when", r.text("when", &into.When)},
			field{"reason", r.text("reason", &into.Reason)},
		)
		if a.node.Kind == source.Object && into.At == 0 && into.When == "" {
			r.fail(a, codeEmpty, "give at, or when", "cancel does not say when")
		}
	}
}

func (r *reader) permits(into **Permits) func(at) {
	return func(a at) {
		p := &Permits{}
		r.object(a, "permits",
			field{"wait", r.duration("wait", &p.Wait)},
			field{"full_for", r.duration("full_for", &p.FullFor)},
		)
		*into = p
	}
}

// slow says why a case is not for a server.
func slow(s *Scenario) string {
	for _, fakes := range []Fakes{s.Fakes, s.Nodes} {
		for _, name := range sortedNames(fakes) {
			for _, step := range fakes[name].steps {
				switch {
				case step.interrupt != "":
					return fmt.Sprintf("the fake of %s loses a worker, which is done in virtual time alone", name)
				case step.late > 0:
					return fmt.Sprintf("the fake of %s is late, which is done in virtual time alone", name)
				}
			}
		}
	}
	switch {
	case len(s.Children) > 0:
		return "a child graph is faked, which is done in virtual time alone"
	case s.Permits != nil:
		return "permits are given in virtual time alone"
	default:
		return ""
	}
}
