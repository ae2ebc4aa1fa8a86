package tidemill

import (
	"context"
	"iter"
)

// Watch looks at a run until it is closed. It gives every report that is seen on
// the way, at intervals that grow to two seconds, and the outcome as the last.
// A run that continues as new is followed. An error ends the sequence; to stop
// looking leaves the run alone.
//
//	for report, err := range runs.Watch(ctx, "order-7") {
//		…
//	}
func (c *Client) Watch(ctx context.Context, id string) iter.Seq2[Report, error] {
	return func(yield func(Report, error) bool) {
		watching, stop := context.WithCancel(ctx)
		defer stop()
		left := false
		outcome, err := c.Await(watching, id, AwaitOptions{ThroughPauses: true, Progress: func(r Report) {
			if !left && !yield(r, nil) {
				left = true
				stop()
			}
		}})
		if !left {
			yield(outcome, err)
		}
	}
}
