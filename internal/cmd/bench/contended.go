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

// contend measures how much of the permits is used while owners wait for them, and
// of the whole time from the beginning of the first work to the end of the last, in
// which all owners are started as well.
func (b *bench) contend(ctx context.Context, rounds int) error {
	say("%d owners at once, limit %d, %v of work each: %v at best\n", crowd, narrowLimit, narrowLength, narrowIdeal)
	sides := []side{graphOf(narrow), ownerOf(narrow), signalsOf(narrow)}
	used, whole := make([][]float64, len(sides)), make([][]float64, len(sides))
	events := []counts{{}, {}, {}}
	for round := range rounds + 1 { // the first warms caches and pollers
		for i, s := range sides {
			if err := b.serve(ctx, s.queue); err != nil {
				return err
			}
			taken, err := b.contendOnce(ctx, s)
			if err != nil {
				return err
			}
			if round > 0 {
				g := b.gaugeOf(narrow)
				used[i] = append(used[i], g.share())
				whole[i] = append(whole[i], narrowIdeal.Seconds()/g.span().Seconds())
				events[i].add(taken)
			}
		}
	}
	for i, s := range sides {
		slices.Sort(used[i])
		slices.Sort(whole[i])
		say("  %-8s used %.3f of it (median of %d, %.3f to %.3f; at least 0.93 is wanted), the beginning and the end counted %.3f; "+
			"%.2f events of the semaphore to a permit (at most 3 are wanted)\n",
			s.label, used[i][rounds/2], rounds, used[i][0], used[i][rounds-1], whole[i][rounds/2], events[i].each(rounds*crowd))
		if b.calls {
			events[i].print(s.label, rounds*crowd)
		}
	}
	say("\n")
	return nil
}

// contendOnce is one round: the events of the semaphore. The gauge knows the rest.
func (b *bench) contendOnce(ctx context.Context, s side) (counts, error) {
	b.gaugeOf(narrow).reset()
	before, err := b.chain(ctx, s.semaphore)
	if err != nil {
		return nil, err
	}
	if _, err := b.measure(ctx, contest{batch: crowd, width: crowd, want: "2"}, s); err != nil {
		return nil, err
	}
	after, err := b.chain(ctx, s.semaphore)
	if err != nil {
		return nil, err
	}
	return after.since(before), nil
}

func (b *bench) gaugeOf(name string) *gauge {
	i := slices.IndexFunc(b.works, func(w *work) bool { return w.name == name })
	return b.works[i].gauge
}
