package main

import (
	"context"
	"slices"
	"time"
)

// The contended work: so many owners at once, so many permits, so long each.
const (
	narrowLimit  = 8
	narrowLength = time.Second
	narrowIdeal  = crowd * narrowLength / narrowLimit
)

// contend measures how much of the permits is used while owners wait for them. The
// span is from the beginning of the first work to the end of the last.
func (b *bench) contend(ctx context.Context, rounds int) error {
	say("%d owners at once, limit %d, %v of work each: %v at best\n", crowd, narrowLimit, narrowLength, narrowIdeal)
	sides := []side{graphOf(narrow), ownerOf(narrow), signalsOf(narrow)}
	used := make([][]float64, len(sides))
	events := []counts{{}, {}, {}}
	for round := range rounds + 1 { // the first warms caches and pollers
		for i, s := range sides {
			if err := b.serve(ctx, s.queue); err != nil {
				return err
			}
			share, taken, err := b.contendOnce(ctx, s)
			if err != nil {
				return err
			}
			if round > 0 {
				used[i] = append(used[i], share)
				events[i].add(taken)
			}
		}
	}
	for i, s := range sides {
		slices.Sort(used[i])
		say("  %-8s used %.3f of it (median of %d, %.3f to %.3f; at least 0.93 is wanted), %.2f events of the semaphore to a permit "+
			"(at most 3 are wanted)\n", s.label, used[i][rounds/2], rounds, used[i][0], used[i][rounds-1], events[i].each(rounds*crowd))
		if b.calls {
			events[i].print(s.label, rounds*crowd)
		}
	}
	say("\n")
	return nil
}

// contendOnce is one round: the share of the permits that was used, and the events
// of the semaphore.
func (b *bench) contendOnce(ctx context.Context, s side) (float64, counts, error) {
	g := b.gaugeOf(narrow)
	g.reset()
	before, err := b.chain(ctx, s.semaphore)
	if err != nil {
		return 0, nil, err
	}
	if _, err := b.measure(ctx, contest{batch: crowd, width: crowd, want: "2"}, s); err != nil {
		return 0, nil, err
	}
	after, err := b.chain(ctx, s.semaphore)
	if err != nil {
		return 0, nil, err
	}
	return narrowIdeal.Seconds() / g.span().Seconds(), after.since(before), nil
}

func (b *bench) gaugeOf(name string) *gauge {
	i := slices.IndexFunc(b.works, func(w *work) bool { return w.name == name })
	return b.works[i].gauge
}
