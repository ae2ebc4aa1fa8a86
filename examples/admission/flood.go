package admission

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/tidemill/tidemill"
)

// Load is how many runs a tenant starts.
type Load struct {
	Tenant string
	Runs   int
}

// Flood are the loads of a hog, and of two tenants that come after it.
func Flood(hog, others int) []Load {
	return []Load{{Acme, hog}, {Globex, others}, {Initech, others}}
}

// atOnce is how many runs are being started, or waited for, at a time.
const atOnce = 16

// Start starts all runs, one load after the other, and gives their ids. The name
// tells them from other runs.
func Start(ctx context.Context, runs *tidemill.Client, name string, loads []Load) ([]string, error) {
	var ids []string
	starting, ctx := errgroup.WithContext(ctx)
	starting.SetLimit(atOnce)
	for _, load := range loads {
		for i := range load.Runs {
			id := fmt.Sprintf("%s-%s-%d", name, load.Tenant, i+1)
			ids = append(ids, id)
			starting.Go(func() error {
				_, err := runs.Start(ctx, tidemill.StartOptions{
					Graph: GraphID, ID: id, Lane: tidemill.Lane{App: load.Tenant},
					Input: LookupInput{Address: fmt.Sprintf("%s street %d", load.Tenant, i+1)},
				})
				return err
			})
		}
	}
	return ids, starting.Wait()
}

// Await waits until the runs have ended, all of them well.
func Await(ctx context.Context, runs *tidemill.Client, ids []string) error {
	waiting, ctx := errgroup.WithContext(ctx)
	waiting.SetLimit(atOnce)
	for _, id := range ids {
		waiting.Go(func() error {
			report, err := runs.Await(ctx, id, tidemill.AwaitOptions{ThroughPauses: true})
			if err == nil && report.Status != tidemill.StatusCompleted {
				err = fmt.Errorf("%s is %s", id, report.Status)
			}
			return err
		})
	}
	return waiting.Wait()
}
