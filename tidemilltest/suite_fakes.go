package tidemilltest

import (
	"encoding/json"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// fakes reads fakes by name: one object goes the same way at every call, a list one
// step a call.
func (s *Suite) fakes(r *reader, kind string, into *Fakes) func(at) {
	return func(a at) {
		*into = Fakes{}
		r.members(a, "fakes", func(m source.Member, v at) {
			s.names = append(s.names, name{kind: kind, name: m.Key, pos: m.KeyPos, pointer: v.pointer})
			if v.node.Kind != source.Array {
				(*into)[m.Key] = Always(r.step(v, kind))
				return
			}
			fake := InTurn()
			r.list(v, "the fake", func(_ int, item at) { fake.steps = append(fake.steps, r.step(item, kind)) })
			(*into)[m.Key] = fake
		})
	}
}

// givenStep is a step as it is written.
type givenStep struct {
	has    map[string]bool
	node   map[string]json.RawMessage // what makes a node_result
	status int
	header map[string]any
	err    *tidemill.Error
	by     string
}

// step reads how one call goes.
func (r *reader) step(a at, kind string) Step {
	var step Step
	if a.node.Kind != source.Object {
		r.fail(a, codeMap, "write what the call gives as {output: …}", "a step of a fake must be an object, and is %s", a.node.Kind)
		return step
	}
	g := givenStep{has: map[string]bool{}, node: map[string]json.RawMessage{}}
	noted := func(name string, read func(at)) field {
		return field{name, func(a at) { g.has[name] = true; read(a) }}
	}
	part := func(name string) field {
		return noted(name, func(a at) { g.node[name] = r.json(a) })
	}
	fields := []field{
		part("output"), noted("error", func(a at) { g.err = r.failure(a) }),
		noted("delay", r.duration("delay", &step.after)), noted("hang", r.truth("hang", &step.hangs)),
		noted("interrupt", r.word("interrupt", interruptions(), func(word string) { g.by = word })),
		noted("late", r.duration("late", &step.late)), noted("effect", r.text("effect", &step.effect)),
	}
	if kind == kindGraph {
		fields = append(fields, noted("changed", func(a at) { step.changed = r.json(a) }))
	} else {
		fields = append(fields, part("stop"), part("pause"), part("route"), part("delta"),
			noted("status", r.number("status", 100, &g.status)), noted("headers", r.values("headers", &g.header)))
	}
	r.object(a, "a step of a fake", fields...)
	r.finish(a, &step, g)
	return step
}

// interruptions are the words for what ends an attempt that was not heard.
func interruptions() []string {
	return []string{
		string(graph.InterruptWorkerLost), string(graph.InterruptShutdown), string(graph.InterruptNotRegistered), string(graph.InterruptReset),
	}
}

// failure reads an error: its type alone, or what an action may say of it.
func (r *reader) failure(a at) *tidemill.Error {
	e := tidemill.NewError("", "")
	if a.node.Kind == source.String {
		r.text("error", &e.Type)(a)
	} else {
		r.object(a, "error",
			field{"type", r.text("type", &e.Type)},
			field{"message", r.text("message", &e.Message)},
			field{"final", r.truth("final", &e.Final)},
			field{"retry_after", r.duration("retry_after", &e.RetryAfter)},
			field{"business", r.truth("business", &e.Business)},
			field{"details", r.value(&e.Details)},
		)
	}
	if e.Message == "" {
		e.Message = "the fake fails"
	}
	return e
}

// finish makes a step of what was written.
func (r *reader) finish(a at, step *Step, g givenStep) {
	ends := 0
	for _, name := range []string{"output", "stop", "pause", "route", "error", "hang"} {
		if g.has[name] {
			ends++
		}
	}
	if ends > 1 {
		r.fail(a, codeConflicting, "", "a step has one of output, stop, pause, route, error and hang")
		return
	}
	switch {
	case g.err != nil:
		step.failure = g.err
	case g.has["status"] || g.has["headers"]:
		step.http = r.httpAnswer(a, g)
	case g.has["stop"] || g.has["pause"] || g.has["route"] || g.has["delta"]:
		step.result = r.nodeResult(a, g.node)
	case g.has["output"]:
		step.output = g.node["output"]
	}
	if g.by != "" {
		step.interrupt = graph.Interruption(g.by)
		step.idle = ends == 0 && !g.has["delta"] && !g.has["status"]
	}
}

// nodeResult reads a result that does more than an output.
func (r *reader) nodeResult(a at, parts map[string]json.RawMessage) *tidemill.Result {
	text, err := json.Marshal(parts)
	if err == nil {
		var result tidemill.Result
		if result, err = activities.ParseResult(text); err == nil {
			return &result
		}
	}
	r.fail(a, codeValue, "", "the step is no result of a node: %v", err)
	return nil
}

// httpAnswer reads what the other side of a request says.
func (r *reader) httpAnswer(a at, g givenStep) *httpAnswer {
	answer := &httpAnswer{Status: g.status, Headers: map[string]string{}}
	if answer.Status == 0 {
		answer.Status = 200
	}
	if body, has := g.node["output"]; has {
		answer.Body = body
		var text string
		if json.Unmarshal(body, &text) == nil {
			answer.Body = text
		}
	}
	for _, name := range sortedKeys(g.header) {
		raw, _ := g.header[name].(json.RawMessage)
		var text string
		if json.Unmarshal(raw, &text) != nil {
			r.fail(a, codeText, "", "the header %s must be text", name)
		}
		answer.Headers[name] = text
	}
	return answer
}
