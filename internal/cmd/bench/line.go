package main

import (
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"
)

const lineLength = 5 // actions in the line

// linear is a line of five remote actions.
func linear(batch, width int) contest {
	ours, theirs := versus("line", "line-by-hand")
	return contest{
		title: "linear graph of five actions", ours: ours, theirs: theirs, batch: batch, width: width,
		want: strconv.Itoa(1 + lineLength), ratio: 0.95, events: "at most 36 are wanted",
	}
}

// lineDocument is the line as a graph. It does what lineByHand does: each action
// is given the count and its result becomes the count.
const lineDocument = `
version: 1
id: line
entry: a
nodes:
  - {id: a, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: b}
  - {id: b, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: c}
  - {id: c, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: d}
  - {id: d, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: e}
  - {id: e, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: end}
`

// local is the same line with each action inside the workflow task, against the
// same remote actions by hand.
func local(batch, width int) contest {
	ours, theirs := versus("local_line", "line-by-hand")
	return contest{
		title: "linear graph of five local actions, to remote ones", ours: ours, theirs: theirs, batch: batch, width: width,
		want: strconv.Itoa(1 + lineLength), ratio: 3.5, events: "at most 11 are wanted",
	}
}

// localDocument is the line as a graph whose actions are local.
func localDocument() string {
	document := strings.Replace(lineDocument, "id: line", "id: local_line", 1)
	return strings.ReplaceAll(document, "run: add,", "run: add, mode: local, idempotent: true, timeout: 1s,")
}

// lineByHand is the line as a team would write it.
func lineByHand(ctx workflow.Context, in input) (int, error) {
	ctx = byHand(ctx)
	for range lineLength {
		if err := workflow.ExecuteActivity(ctx, "addByHand", in).Get(ctx, &in.Count); err != nil {
			return 0, err
		}
	}
	return in.Count, nil
}

func byHand(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Minute})
}
