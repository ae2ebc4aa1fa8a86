package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// item is one entry of the programme.
type item struct {
	name  string
	quick bool // measured on a quick server, see dispatch
	run   func(context.Context, *bench) error
}

// programme is everything that is measured, in order. Admission comes last: its
// workers would poll beside the others.
func programme(s settings) []item {
	versus := func(name string, c contest) item {
		return item{name: name, run: func(ctx context.Context, b *bench) error { return b.compare(ctx, c, s.pairs) }}
	}
	lives := func(l long) item {
		return item{name: l.graph, run: func(ctx context.Context, b *bench) error { return b.live(ctx, l, max(s.pairs/2, 1)) }}
	}
	all := []item{
		versus("line", linear(s.batch, s.width)),
		versus("local", local(s.batch, s.width)),
		versus("fork", fork(max(s.batch/forkLength, 4), s.width)),
		versus("map", mapping(max(s.batch/mapLength, 1), s.width)),
	}
	quick := []item{
		lives(longLoop()), lives(longHeavy()), lives(longMap()),
		versus("admission-uncontended", uncontended(s.batch, s.width)),
		versus("admission-signals", signals(s.batch)),
		versus("admission-signals-owner", signalsByHand(s.batch)),
		versus("admission-lock", handovers(s.batch)),
		versus("admission-lock-graph", handoversOfGraph(s.batch)),
		{name: "admission-contended", run: func(ctx context.Context, b *bench) error { return b.contend(ctx, max(s.pairs/3, 1)) }},
		{name: "admission-ceiling", run: func(ctx context.Context, b *bench) error { return b.ceiling(ctx) }},
	}
	for i := range quick {
		quick[i].quick = true
	}
	return append(all, quick...)
}

// choose keeps the items whose names begin with one of the words.
func choose(all []item, words string) ([]item, error) {
	if words == "" {
		return all, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(i item) bool {
		return !slices.ContainsFunc(strings.Split(words, ","), func(word string) bool { return strings.HasPrefix(i.name, word) })
	})
	if len(chosen) == 0 {
		names := make([]string, 0, len(all))
		for _, i := range all {
			names = append(names, i.name)
		}
		return nil, fmt.Errorf("-only %s names no contest; there are %s", words, strings.Join(names, ", "))
	}
	return chosen, nil
}
