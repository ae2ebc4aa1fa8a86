package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"
)

const forkLength = 50 // actions side by side

// fork is fifty remote actions side by side.
func fork(batch, width int) contest {
	all := map[string]int{}
	for i := range forkLength {
		all[branch(i)] = 2
	}
	want, err := json.Marshal(all)
	if err != nil {
		panic(err) // a map of numbers is JSON
	}
	ours, theirs := versus("fork", "fork-by-hand")
	return contest{
		title: "fork of fifty actions", ours: ours, theirs: theirs, batch: batch, width: width,
		want: string(want), ratio: 1 / 1.05, events: "within 1.05 is wanted",
	}
}

func branch(i int) string { return fmt.Sprintf("b%02d", i) }

// forkDocument is the fork as a graph.
func forkDocument() string {
	var ids []string
	var nodes strings.Builder
	for i := range forkLength {
		ids = append(ids, branch(i))
		fmt.Fprintf(&nodes, "  - {id: %s, run: add, args: {count: \"${ state.count }\"}, next: joined}\n", branch(i))
	}
	return "version: 1\nid: fork\nentry: all\nnodes:\n  - {id: all, type: fork, branches: [" + strings.Join(ids, ", ") +
		"], join: joined}\n" + nodes.String() + "  - {id: joined, type: join, next: end}\n"
}

// forkByHand is the fork as a team would write it: futures in a selector.
func forkByHand(ctx workflow.Context, in input) (map[string]int, error) {
	ctx = byHand(ctx)
	selector := workflow.NewSelector(ctx)
	counts := map[string]int{}
	var failure error
	for i := range forkLength {
		selector.AddFuture(workflow.ExecuteActivity(ctx, "addByHand", in), func(f workflow.Future) {
			var count int
			if err := f.Get(ctx, &count); err != nil {
				failure = err
			}
			counts[branch(i)] = count
		})
	}
	for range forkLength {
		if selector.Select(ctx); failure != nil {
			return nil, failure
		}
	}
	return counts, nil
}
