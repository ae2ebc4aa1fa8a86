package main

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// The common pattern: one workflow that counts. Owners ask and give back by
// external signals, and are told by one.
const (
	semaphoreType = "semaphore"
	signalAcquire = "acquire" // an owner's workflow id
	signalRelease = "release" // an owner's workflow id
	signalGranted = "granted"
)

// semaphoreID is the id of the semaphore of one kind of work.
func semaphoreID(work string) string { return "bench-semaphore-" + work }

// counting is what a semaphore knows, and hands to its next run.
type counting struct {
	Limit   int      `json:"limit"`
	Held    []string `json:"held"`
	Waiting []string `json:"waiting"`

	granting int // grants that were not heard yet
}

// semaphore gives permits, first come first served. An owner that cannot be told
// is gone, and holds nothing.
func semaphore(ctx workflow.Context, s *counting) error {
	acquire, release := workflow.GetSignalChannel(ctx, signalAcquire), workflow.GetSignalChannel(ctx, signalRelease)
	suggested := func() bool { return workflow.GetInfo(ctx).GetContinueAsNewSuggested() }
	for {
		s.receive(acquire, release)
		if suggested() && s.granting == 0 {
			return workflow.NewContinueAsNewError(ctx, semaphoreType, s)
		}
		for !suggested() && len(s.Held) < s.Limit && len(s.Waiting) > 0 {
			s.grant(ctx)
		}
		granting := s.granting
		if err := workflow.Await(ctx, func() bool {
			return acquire.Len() > 0 || release.Len() > 0 || s.granting < granting
		}); err != nil {
			return err
		}
	}
}

// receive takes everything that has come.
func (s *counting) receive(acquire, release workflow.ReceiveChannel) {
	var owner string
	for acquire.ReceiveAsync(&owner) {
		s.Waiting = append(s.Waiting, owner)
	}
	for release.ReceiveAsync(&owner) {
		s.free(owner)
	}
}

// grant gives the next owner its permit.
func (s *counting) grant(ctx workflow.Context) {
	owner := s.Waiting[0]
	s.Waiting, s.Held = s.Waiting[1:], append(s.Held, owner)
	s.granting++
	told := workflow.SignalExternalWorkflow(ctx, owner, "", signalGranted, nil)
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := told.Get(ctx, nil); err != nil {
			s.free(owner)
		}
		s.granting--
	})
}

func (s *counting) free(owner string) {
	s.Held = slices.DeleteFunc(s.Held, func(held string) bool { return held == owner })
}

// bySignals is an owner of the common pattern, around one activity.
func bySignals(work string) func(workflow.Context, input) (int, error) {
	return func(ctx workflow.Context, in input) (int, error) {
		me := workflow.GetInfo(ctx).WorkflowExecution.ID
		if err := workflow.SignalExternalWorkflow(ctx, semaphoreID(work), "", signalAcquire, me).Get(ctx, nil); err != nil {
			return 0, err
		}
		workflow.GetSignalChannel(ctx, signalGranted).Receive(ctx, nil)
		err := workflow.ExecuteActivity(byHand(ctx), work+handSuffix, in).Get(ctx, &in.Count)
		live, _ := workflow.NewDisconnectedContext(ctx)
		if err := workflow.SignalExternalWorkflow(live, semaphoreID(work), "", signalRelease, me).Get(live, nil); err != nil {
			return 0, err
		}
		return in.Count, err
	}
}
