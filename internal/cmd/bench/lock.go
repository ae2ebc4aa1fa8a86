package main

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
)

// The lock workflow as Temporal's public Go samples have it, in words of our own:
// a workflow for each resource, that ends when nobody asks any more.
const (
	lockType      = "lock"
	lockID        = "bench-lock"
	lockAsk       = "askForLock" // local activity
	signalAsk     = "ask"        // an owner's workflow id
	signalLocked  = "locked"     // the name of the signal that unlocks
	unlockTimeout = 10 * time.Minute
)

// lock gives the resource to one owner after the other. Each is told the name of a
// signal that only it knows, and loses the lock after a while.
func lock(ctx workflow.Context) error {
	asked := workflow.GetSignalChannel(ctx, signalAsk)
	for {
		var owner, unlock string
		if !asked.ReceiveAsync(&owner) {
			return nil
		}
		name := workflow.SideEffect(ctx, func(workflow.Context) any { return "unlock-" + owner })
		if err := name.Get(&unlock); err != nil {
			return err
		}
		if err := workflow.SignalExternalWorkflow(ctx, owner, "", signalLocked, unlock).Get(ctx, nil); err != nil {
			continue // the owner is gone
		}
		timer, stop := workflow.WithCancel(ctx)
		workflow.NewSelector(ctx).
			AddReceive(workflow.GetSignalChannel(ctx, unlock), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil) }).
			AddFuture(workflow.NewTimer(timer, unlockTimeout), func(workflow.Future) {}).
			Select(ctx)
		stop()
	}
}

// locks reaches the lock workflow.
type locks struct{ client client.Client }

// ask starts the lock workflow unless it runs, and gets in line.
func (l locks) ask(ctx context.Context, owner string) error {
	options := client.StartWorkflowOptions{ID: lockID, TaskQueue: queueRivals}
	_, err := l.client.SignalWithStartWorkflow(ctx, lockID, signalAsk, owner, options, lockType)
	return err
}

// byLock is an owner of the lock, around one activity.
func byLock(work string) func(workflow.Context, input) (int, error) {
	return func(ctx workflow.Context, in input) (int, error) {
		asking := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute})
		me := workflow.GetInfo(ctx).WorkflowExecution.ID
		if err := workflow.ExecuteLocalActivity(asking, lockAsk, me).Get(ctx, nil); err != nil {
			return 0, err
		}
		var unlock string
		workflow.GetSignalChannel(ctx, signalLocked).Receive(ctx, &unlock)
		err := workflow.ExecuteActivity(byHand(ctx), work+handSuffix, in).Get(ctx, &in.Count)
		live, _ := workflow.NewDisconnectedContext(ctx)
		if err := workflow.SignalExternalWorkflow(live, lockID, "", unlock, nil).Get(live, nil); err != nil {
			return 0, err
		}
		return in.Count, err
	}
}
