package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// longWay is a graph with everything a redrive can begin at: an action, a map, a child,
// and an action at the end.
const longWay = `entry: a
deadline: 10h
nodes:
  - {id: a, run: act, next: m}
  - {id: m, type: map, items: [1, 2, 3], item: {run: act}, next: c}
  - {id: c, type: workflow, next: b, workflow: {version: 1, id: inner, entry: x, nodes: [{id: x, run: act, next: v}, {id: v, run: act, next: end}]}}
  - {id: b, run: act, FIELDS next: end}
`

// The ways in which a run of longWay ends at a place.
var faultEndings = []struct {
	name  string
	fault play
	close func(s *story)
	want  graph.Status
}{
	{"failed", fails("boom"), func(s *story) { s.run() }, graph.StatusFailed},
	{"timed out", blocks(), func(s *story) { s.run() }, graph.StatusTimedOut},
	{"cancelled", blocks(), func(s *story) { s.sleep(time.Minute).cancel("enough").run() }, graph.StatusCancelled},
	{"terminated", blocks(), func(s *story) { s.sleep(time.Minute) }, graph.StatusRunning},
}

// place is where a run of longWay meets its fault: what is called up to there, and what
// is called again from there.
type faultPlace struct {
	name  string
	at    string         // address or node of the fault
	first map[string]int // calls of the run that ends there
	again map[string]int // of its redrive
}

var faultPlaces = []faultPlace{
	{"at the end", "b", map[string]int{"a": 1, "m/item": 3, "x": 1, "v": 1, "b": 1}, map[string]int{"b": 1}},
	{"in a child", "v", map[string]int{"a": 1, "m/item": 3, "x": 1, "v": 1}, map[string]int{"v": 1, "b": 1}},
	{"in an item", "m#1/1", map[string]int{"a": 1, "m/item": 3}, map[string]int{"m/item": 1, "x": 1, "v": 1, "b": 1}},
}

// well lets every node of longWay end well, any number of times.
func well() plays {
	return plays{
		"a": times(9, outputs(`"a"`)), "m/item": times(40, after(1, outputs(`"i"`))), "x": times(9, outputs(`"x"`, `{"x":1}`)),
		"v": times(9, outputs(`"v"`, `{"v":2}`)), "b": times(9, outputs(`"b"`, `{"b":3}`)),
	}
}

// undisturbed is the state of a run of longWay that nothing happened to.
const undisturbed = `{"b":3,"v":2,"x":1}`

func endLongWay(t *testing.T, p faultPlace, fault play, finish func(*story), change ...func(*story)) *story {
	t.Helper()
	script := well()
	script[p.at] = []play{fault}
	if strings.Contains(p.at, "/") { // the others end before it does
		script[p.at] = []play{fault.lasting(2 * time.Second)}
	}
	s := tell(t, strings.Replace(longWay, "FIELDS", "", 1), "", script, change...)
	finish(s)
	require.Equal(t, p.first, callsOf(s))
	return s
}

// 61, 62, 85, 86, 96, E1, B9, A19: however a run ended, wherever, its redrive repeats
// what had not committed and nothing else, under the same key, and comes to what an
// undisturbed run comes to. The export goes through text, so the run may be gone.
func TestRedriveFromTheLastCheckpoint(t *testing.T) {
	t.Parallel()
	for _, end := range faultEndings {
		for _, p := range faultPlaces {
			for _, admission := range []bool{false, true} {
				name := end.name + " " + p.name
				var change []func(*story)
				if admission {
					name, change = name+" under admission", append(change, admitting())
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := endLongWay(t, p, end.fault, end.close, change...)
					require.Equal(t, end.want, s.m.Status())
					next := s.taken(graph.Redriving{}, well())
					require.Equal(t, graph.StatusCompleted, next.m.Status())
					require.Equal(t, p.again, callsOf(next))
					require.Equal(t, undisturbed, string(next.m.Report().State))
					require.Equal(t, `"b"`, string(next.m.Outcome().Output))
					require.Equal(t, "r", next.m.Report().RedriveOf)
					node := p.at
					if strings.Contains(node, "/") {
						node = "m/item"
					}
					again := keysOf(node, next)
					require.Contains(t, keysOf(node, s), again[0], "the same key")
					require.Equal(t, 1, next.all()[0].Run.Attempt, "attempts begin afresh")
				})
			}
		}
	}
}

// E2, E3: what has committed can be repeated on purpose, with all that lies behind it,
// from the moment before it; its key is another one then. So a completed run can be
// taken up too.
func TestRedriveFromAnAddress(t *testing.T) {
	t.Parallel()
	rows := []struct {
		from  graph.Address
		again map[string]int
		key   string // of the first call
	}{
		{"a#1", map[string]int{"a": 1, "m/item": 3, "x": 1, "v": 1, "b": 1}, "first/a#2"},
		{"m#1", map[string]int{"m/item": 3, "x": 1, "v": 1, "b": 1}, "first/m#2/0"},
		{"m#1/1", map[string]int{"m/item": 1, "x": 1, "v": 1, "b": 1}, "first/m#1~2/1"},
		{"c#1", map[string]int{"x": 1, "v": 1, "b": 1}, "first/c#2/x#1"},
		{"c#1/v#1", map[string]int{"v": 1, "b": 1}, "first/c#1/v#2"},
		{"c#1/x#1", map[string]int{"x": 1, "v": 1, "b": 1}, "first/c#1/x#2"},
	}
	completed := struct {
		name  string
		fault play
		close func(s *story)
		want  graph.Status
	}{"completed", outputs(`"b"`, `{"b":3}`), func(s *story) { s.run() }, graph.StatusCompleted}
	for _, end := range append(faultEndings[:len(faultEndings):len(faultEndings)], completed) {
		for _, row := range rows {
			t.Run(end.name+" "+string(row.from), func(t *testing.T) {
				t.Parallel()
				script := well()
				script["b"] = []play{end.fault}
				script["m#1/1"] = []play{after(2, outputs(`"i"`))} // the last
				s := tell(t, strings.Replace(longWay, "FIELDS", "", 1), "", script)
				moments := s.exports()
				end.close(s)
				require.Equal(t, end.want, s.m.Status())
				moments = append(moments, s.export())

				_, _, failure := s.redrive(graph.Redriving{From: row.from}, nil)
				require.NotNil(t, failure, "the last checkpoint has left it behind")
				next, plan, failure := s.redriveFrom(rewound(t, moments, row.from), graph.Redriving{From: row.from}, well())
				require.Nil(t, failure)
				next.run()
				require.Equal(t, graph.StatusCompleted, next.m.Status())
				require.Equal(t, row.again, callsOf(next))
				require.Equal(t, undisturbed, string(next.m.Report().State))
				require.Equal(t, row.from, plan.From)
				used := map[string]bool{}
				for _, task := range s.all() {
					used[task.Run.Key] = task.Node.ID != "b" || end.want == graph.StatusCompleted
				}
				for _, task := range next.all() {
					require.False(t, used[task.Run.Key], "the key %s is used up", task.Run.Key)
				}
				var first []string
				for _, task := range next.all() {
					first = append(first, task.Run.Key)
				}
				require.Contains(t, first, row.key)
			})
		}
	}
}

// 89: a completed run has nothing left to do.
func TestRedriveOfACompletedRun(t *testing.T) {
	t.Parallel()
	s := tell(t, strings.Replace(longWay, "FIELDS", "", 1), "", well()).run()
	_, _, failure := s.redrive(graph.Redriving{}, nil)
	require.Equal(t, "checkpoint_complete", failure.Type)
	require.Contains(t, failure.Message, "to repeat a part of it, say from which address")
	require.Contains(t, failure.Message, "from")
}

// A19: a spent budget is given again; without another one the redrive would end at
// once, so it is refused.
func TestRedriveWithALargerBudget(t *testing.T) {
	t.Parallel()
	s := tell(t, "max_steps: 3\n"+strings.Replace(longWay, "FIELDS", "", 1), "", well()).run()
	require.Equal(t, "budget_exhausted", s.m.Outcome().Failure.Type)
	require.Equal(t, map[string]int{"a": 1, "m/item": 3, "x": 1, "v": 1}, callsOf(s))
	_, plan, failure := s.redrive(graph.Redriving{}, nil)
	require.Equal(t, "budget_exhausted", failure.Type)
	require.Contains(t, failure.Message, "max_steps")
	require.Len(t, plan.Repeated, 1)
	next := s.taken(graph.Redriving{MaxSteps: 1}, well())
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, map[string]int{"b": 1}, callsOf(next))
	require.Zero(t, next.m.Checkpoint().StepsLeft)

	// In a child that has a budget of its own.
	inner := strings.Replace(strings.Replace(longWay, "FIELDS", "", 1), "id: inner,", "id: inner, max_steps: 1,", 1)
	s = tell(t, inner, "", well()).run()
	require.Equal(t, "nested_workflow_failed/budget_exhausted", failureTypes(s.m.Outcome().Failure))
	_, _, failure = s.redrive(graph.Redriving{}, nil)
	require.Equal(t, "budget_exhausted", failure.Type)
	require.Contains(t, failure.Message, "c#1")
	next = s.taken(graph.Redriving{MaxSteps: 9}, well())
	require.Equal(t, map[string]int{"v": 1, "b": 1}, callsOf(next))
}

// E7: a corrected graph goes on with what the run has.
func TestRedriveWithACorrectedGraph(t *testing.T) {
	t.Parallel()
	for _, end := range faultEndings {
		for _, p := range faultPlaces {
			t.Run(end.name+" "+p.name, func(t *testing.T) {
				t.Parallel()
				s := endLongWay(t, p, end.fault, end.close)
				corrected := compileStory(t, strings.NewReplacer("FIELDS", `output: "${ [result] }",`, "{id: v, run: act,", "{id: v, run: mended,").Replace(longWay))
				with := func(next *story) { next.compiled = corrected }
				_, _, failure := s.redrive(graph.Redriving{}, nil, with)
				require.Equal(t, "checkpoint_definition_mismatch", failure.Type)
				require.Contains(t, failure.Message, "spec")
				next, plan, failure := s.redrive(graph.Redriving{Corrected: true}, well(), with)
				require.Nil(t, failure)
				next.run()
				require.Equal(t, graph.StatusCompleted, next.m.Status())
				require.Equal(t, p.again, callsOf(next))
				require.NotEmpty(t, plan.Checked)
				require.Equal(t, corrected.Fingerprint, next.m.Checkpoint().Fingerprint)
				if p.again["v"] > 0 {
					for _, task := range next.all() {
						require.True(t, task.Node.ID != "v" || task.Node.Run.Name == "mended", "the child is the corrected one")
					}
				}
			})
		}
	}
}
