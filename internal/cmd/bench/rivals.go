package main

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// Rivals have what Tidemill has: a worker of their own beside that of the owners.

// startRivals starts the worker of semaphores and locks.
func startRivals(c client.Client) (worker.Worker, error) {
	w := worker.New(c, queueRivals, worker.Options{DisableRegistrationAliasing: true})
	named(w, semaphoreType, semaphore)
	named(w, lockType, lock)
	return w, w.Start()
}

// startOwners starts the worker of those who ask them.
func (b *bench) startOwners() (worker.Worker, error) {
	w := worker.New(b.client, queueOwners, worker.Options{DisableRegistrationAliasing: true})
	for _, work := range b.works {
		named(w, work.name+"-by-signals", bySignals(work.name))
		named(w, work.name+"-by-lock", byLock(work.name))
		w.RegisterActivityWithOptions(work.do, activity.RegisterOptions{Name: work.name + handSuffix})
	}
	w.RegisterActivityWithOptions(locks{b.client}.ask, activity.RegisterOptions{Name: lockAsk})
	return w, w.Start()
}

// startSemaphores starts a semaphore for each kind of work.
func (b *bench) startSemaphores(ctx context.Context) error {
	for _, work := range b.works {
		options := client.StartWorkflowOptions{ID: semaphoreID(work.name), TaskQueue: queueRivals}
		if _, err := b.client.ExecuteWorkflow(ctx, options, semaphoreType, counting{Limit: work.gauge.limit}); err != nil {
			return err
		}
	}
	return nil
}
