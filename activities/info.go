package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// tryKey finds the attempt in an action's context.
type tryKey struct{}

func tryOf(ctx context.Context) *try {
	t, _ := ctx.Value(tryKey{}).(*try)
	return t
}

// Info is the facts of the run as the action's attempt sees them. Key is the
// stable idempotency key of this activation: the same for every attempt. Outside
// an action it is the zero value.
func Info(ctx context.Context) graph.RunFacts {
	t := tryOf(ctx)
	if t == nil {
		return graph.RunFacts{}
	}
	return t.task.Run
}

// ErrNoAction is returned by [Heartbeat] and [HeartbeatDetails] outside the
// context of an action.
var ErrNoAction = errors.New("activities: not the context of an action")

// Heartbeat leaves details for the next attempt, should this one be lost or
// fail; see [HeartbeatDetails]. Whether it is called or not the server hears that
// the action is alive. It does not block. Details are JSON of at most 64 KiB.
func Heartbeat(ctx context.Context, details any) error {
	t := tryOf(ctx)
	if t == nil {
		return ErrNoAction
	}
	raw, err := value.Marshal(details)
	if err != nil {
		return fmt.Errorf("activities: heartbeat details: %w", err)
	}
	raw = t.guard.scrubJSON(raw)
	if len(raw) > maxDetails {
		return fmt.Errorf("activities: heartbeat details have %d bytes, more than %d", len(raw), maxDetails)
	}
	t.pulse.note(raw)
	return nil
}

// HeartbeatDetails decodes the last details an earlier attempt left into v. It
// reports whether there were any.
func HeartbeatDetails(ctx context.Context, v any) (bool, error) {
	t := tryOf(ctx)
	if t == nil {
		return false, ErrNoAction
	}
	if len(t.earlier) == 0 {
		return false, nil
	}
	return true, decode(t.earlier, v)
}
