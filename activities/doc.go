// Package activities is everything of Tidemill that touches the world: the
// actions a worker offers, the wrapper that runs them, the catalogue of graphs,
// secrets, and the local activities in which a run's decisions are evaluated.
//
// The one idea is that an action is a plain Go function from arguments to a
// result, and that everything a durable run needs around it is the wrapper's:
//
//	registry := activities.NewRegistry()
//	activities.Register(registry, "ship", func(ctx context.Context, in Order) (Receipt, error) {
//		return shop.Ship(ctx, in, activities.Info(ctx).Key)
//	})
//	acts, err := activities.New(activities.Options{Registry: registry})
//	acts.Register(worker)
//
// Each registered action is a Temporal activity of its own name. Its argument is
// a [graph.Task], its result a [graph.Result]. The wrapper takes every attempt
// through one pipeline, classify → acquire → check → run → size → release, in
// which it evaluates the node's args, output and delta, calls the action under a
// deadline of its own, sends heartbeats for it, counts attempts apart from
// interruptions, and turns every way to end into an error of constant type.
// [EndingOf] reads such an error back on the workflow's side.
//
// # Errors
//
// What leaves an activity is an ApplicationError whose type is the type of the
// node's failure and whose only detail is an [AttemptReport]. It is not retryable
// exactly when a retry cannot change the answer. Secret values that the action
// was given never leave in a message.
package activities
