package main

// kind is one of the graphs that are run, with the inputs that are given in turn.
type kind struct {
	id       string
	document string
	inputs   []string
	asks     bool // it waits for an answer
}

// kinds are the graphs of the soak: of each way to go on, what a lost worker or server
// might break. Nothing in them depends on when or where they run, so an undisturbed run
// says how each must end.
func kinds() []kind {
	return []kind{
		{id: "line", inputs: []string{`{"num":1}`, `{"num":2}`}, document: `
version: 1
id: line
entry: a
nodes:
  - {id: a, run: work, args: {give: "${ state.num + 1 }"}, delta: {num: "${ result }"}, next: permit_b}
  - {id: permit_b, run: work, args: {give: "${ state.num * 10 }"}, delta: {num: "${ result }"}, next: which}
  - {id: which, type: branch, cases: [{when: "state.num > 20", to: c}], default: end}
  - {id: c, run: work, args: {give: "${ [state.num] }"}, next: end}
`},
		{id: "fork", inputs: []string{`{"fail":""}`, `{"fail":"boom"}`}, document: `
version: 1
id: fork
entry: f
nodes:
  - {id: f, type: fork, branches: [permit_a, b, c], join: j}
  - {id: permit_a, run: work, args: {give: 1}, delta: {a: "${ result }"}, next: j}
  - {id: b, run: work, args: {give: 2, fail: "${ state.fail }"}, delta: {b: "${ result }"}, on_error: {output: "${ error.type }"}, next: j}
  - {id: c, type: wait, for: 1s, next: j}
  - {id: j, type: join, run: work, args: {give: "${ [input.permit_a, input.b] }"}, next: end}
`},
		{id: "map", inputs: []string{`{"list":[1,2,3,4,5,6]}`, `{"list":[7,8,9]}`}, document: `
version: 1
id: map
entry: each
nodes:
  - id: each
    type: map
    items: "${ state.list }"
    max_concurrency: 3
    tolerate: {count: 1}
    item: {run: work, args: {give: "${ item * 10 }", fail: "${ item == 2 ? 'boom' : '' }"}}
    next: end
`},
		{id: "parent", inputs: []string{`{"num":5}`}, document: `
version: 1
id: parent
entry: first
nodes:
  - {id: first, run: work, args: {give: "${ state.num }"}, next: sub}
  - {id: sub, type: workflow, workflow: line, input: {num: "${ state.num }"}, next: last}
  - {id: last, run: work, args: {give: "${ [state.num, input] }"}, next: end}
`},
		{id: "ask", inputs: []string{`{"num":1}`, `{"num":2}`}, asks: true, document: `
version: 1
id: ask
entry: before
nodes:
  - {id: before, run: work, args: {give: "${ state.num }"}, next: approve}
  - id: approve
    type: pause
    resume_schema: {type: object, required: ["yes"], properties: {"yes": {type: boolean}}}
    next: after
  - {id: after, run: work, args: {give: "${ [state.num, input] }"}, next: end}
`},
		{id: "local", inputs: []string{`{"count":0}`, `{"count":100}`}, document: `
version: 1
id: local
entry: again
max_steps: 10000
nodes:
  - {id: again, type: loop, while: "state.count < 400", body: step, done: far, max_iterations: 1000}
  - {id: step, run: step, mode: local, idempotent: true, timeout: 1s, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: again}
  - {id: far, run: work, args: {give: "${ state.count }"}, next: end}
`},
		{id: "loop", inputs: []string{`{"count":0}`}, document: `
version: 1
id: loop
entry: again
nodes:
  - {id: again, type: loop, while: "state.count < 8", body: step, done: end, max_iterations: 20}
  - {id: step, run: work, args: {give: "${ state.count + 1 }"}, delta: {count: "${ result }"}, next: again}
`},
	}
}

// answer is what every pause is answered with.
const answer = `{"yes":true}`
