package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"
)

// The map: so many items, so many at once.
const (
	mapLength = 1000
	mapWindow = 100
)

// mapping is one remote action for each of a thousand items.
func mapping(batch, width int) contest {
	all := make([]int, mapLength)
	for i := range all {
		all[i] = i + 1
	}
	want, err := json.Marshal(all)
	if err != nil {
		panic(err) // a list of numbers is JSON
	}
	ours, theirs := versus("map", "map-by-hand")
	ours.below = "/each#1"
	return contest{
		title: "map over a thousand items", ours: ours, theirs: theirs, batch: batch, width: width,
		want: string(want), ratio: 0.95,
		events: fmt.Sprintf("at most %d besides those of workflow tasks are wanted", 4*mapLength),
	}
}

// mapDocument is the map as a graph.
func mapDocument() string {
	items := make([]string, mapLength)
	for i := range items {
		items[i] = fmt.Sprint(i)
	}
	return fmt.Sprintf("version: 1\nid: map\nentry: each\nnodes:\n  - {id: each, type: map, max_concurrency: %d, items: [%s], "+
		"item: {run: add, args: {count: \"${ item }\"}}, next: end}\n", mapWindow, strings.Join(items, ", "))
}

// mapByHand is the map as a team would write it: a window of coroutines.
func mapByHand(ctx workflow.Context, _ input) ([]int, error) {
	ctx = byHand(ctx)
	window := workflow.NewSemaphore(ctx, mapWindow)
	group := workflow.NewWaitGroup(ctx)
	counts := make([]int, mapLength)
	var failure error
	for i := range counts {
		if err := window.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer window.Release(1)
			if err := workflow.ExecuteActivity(ctx, "addByHand", input{Count: i}).Get(ctx, &counts[i]); err != nil {
				failure = err
			}
		})
	}
	group.Wait(ctx)
	return counts, failure
}
