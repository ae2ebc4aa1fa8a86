package tidemilltest

import (
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// expect reads what a run should have done; false when that is nothing.
func (r *reader) expect(a at, e *Expect) bool {
	var took time.Duration
	r.object(a, "expect",
		field{"status", r.word("status", statuses(), func(word string) { e.Status = graph.Status(word) })},
		field{"output", r.value(&e.Output)},
		field{"state", r.values("state", &e.State)},
		field{"whole_state", func(a at) { e.WholeState = true; r.values("whole_state", &e.State)(a) }},
		field{"path", r.texts("path", &e.Path)},
		field{"calls", r.calls(&e.Calls)},
		field{"pauses", r.pauses(&e.Pauses)},
		field{"error", func(a at) { e.Error = r.expectError(a) }},
		field{"answers", r.texts("answers", &e.Answers)},
		field{"steps", r.number("steps", 1, &e.Steps)},
		field{"took", r.duration("took", &took)},
	)
	e.Took = took
	if a.node.Kind == source.Object && len(a.node.Members) == 0 {
		r.fail(a, codeEmpty, "say what the run does, such as status: completed", "expect is empty, so the case could not fail")
		return false
	}
	if a.node.Kind == source.Object && a.node.Get("state") != nil && a.node.Get("whole_state") != nil {
		r.fail(a, codeConflicting, "give one", "state names some keys, and whole_state all of them")
	}
	return true
}

func statuses() []string {
	return []string{
		string(graph.StatusCompleted), string(graph.StatusPaused), string(graph.StatusFailed),
		string(graph.StatusTimedOut), string(graph.StatusCancelled), string(graph.StatusRunning),
	}
}

// calls reads how often things are called: a number, or each call.
func (r *reader) calls(into *[]ExpectCalls) func(at) {
	return func(a at) {
		r.members(a, "calls", func(m source.Member, v at) {
			c := ExpectCalls{Name: m.Key}
			if v.node.Kind != source.Array {
				r.number("calls of "+m.Key, 0, &c.Count)(v)
				*into = append(*into, c)
				return
			}
			c.Each = []ExpectCall{}
			r.list(v, "calls of "+m.Key, func(_ int, item at) {
				var call ExpectCall
				r.object(item, "a call",
					field{"args", r.value(&call.Args)},
					field{"address", r.text("address", &call.Address)},
					field{"attempt", r.number("attempt", 1, &call.Attempt)},
					field{"key", r.text("key", &call.Key)},
				)
				c.Each = append(c.Each, call)
			})
			*into = append(*into, c)
		})
	}
}

// pauses reads the pauses that open, each by its address or with what it shows.
func (r *reader) pauses(into *[]ExpectPause) func(at) {
	return func(a at) {
		*into = []ExpectPause{}
		r.list(a, "pauses", func(_ int, item at) {
			var p ExpectPause
			if item.node.Kind == source.String {
				r.text("a pause", &p.Pause)(item)
				*into = append(*into, p)
				return
			}
			closed := []string{
				string(graph.ClosedAnswered), string(graph.ClosedExpired), string(graph.ClosedCancelled), string(graph.ClosedBelow), string(StillOpen),
			}
			r.object(item, "a pause",
				field{"pause", r.text("pause", &p.Pause)},
				field{"reason", r.text("reason", &p.Reason)},
				field{"summary", r.text("summary", &p.Summary)},
				field{"show", r.value(&p.Show)},
				field{"closed", r.word("closed", closed, func(word string) { p.Closed = graph.PauseClosed(word) })},
			)
			if item.node.Kind == source.Object && item.node.Get("pause") == nil {
				r.fail(item, codeEmpty, "", "the pause has no address; give it as pause")
			}
			*into = append(*into, p)
		})
	}
}

// expectError reads why a run does not complete: the type alone, or more.
func (r *reader) expectError(a at) *ExpectError {
	e := &ExpectError{}
	if a.node.Kind == source.String {
		r.text("error", &e.Type)(a)
		return e
	}
	r.object(a, "error",
		field{"type", r.text("type", &e.Type)},
		field{"message", r.text("message", &e.Message)},
		field{"node", r.text("node", &e.Node)},
		field{"address", r.text("address", &e.Address)},
		field{"cause", func(a at) { e.Cause = r.expectError(a) }},
	)
	return e
}
