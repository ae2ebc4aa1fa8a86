package activities

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/graph"
)

// beat is what a heartbeat carries: the ledger of attempts, and the details of
// the action. Stable: servers hold it between attempts.
type beat struct {
	// Used counts the attempts of the activation that ended: that returned an
	// error, panicked or ran out of time. One that was interrupted is not among
	// them, though the server counts it.
	Used int `json:"used"`
	// Attempt is the server's count when the beat was made; never zero.
	Attempt int             `json:"attempt"`
	Details json.RawMessage `json:"details,omitempty"`
}

// lastBeat is what earlier attempts left: those of this scheduling, or else of
// the one before it, which the task tells. Without a beat no attempt has ended, since one
// that ends records it; details that are not ours tell no more than the server's
// own count.
func lastBeat(ctx context.Context, info activity.Info, task graph.Task) beat {
	if !activity.HasHeartbeatDetails(ctx) {
		return beat{Used: task.Before, Details: task.Heartbeat}
	}
	var b beat
	if err := activity.GetHeartbeatDetails(ctx, &b); err != nil || b.Attempt == 0 {
		return beat{Used: task.Before + int(info.Attempt) - 1}
	}
	return b
}

// pulse sends the heartbeats of one attempt.
type pulse struct {
	token   []byte
	wake    chan struct{}
	answers chan error // what the server said to a direct beat
	direct  atomic.Bool

	mu   sync.Mutex
	last beat
}

func newPulse(info activity.Info, last beat) *pulse {
	last.Attempt = int(info.Attempt)
	return &pulse{token: info.TaskToken, last: last, wake: make(chan struct{}, 1), answers: make(chan error, 1)}
}

// note keeps new details of the action and has them sent soon.
func (p *pulse) note(details json.RawMessage) {
	p.mu.Lock()
	p.last.Details = details
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// details is what the action, or an earlier one, left last.
func (p *pulse) details() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Details
}

// start beats in the background: first after a third of the timeout, so that a
// short action costs no request, then every third. The returned function ends it
// and waits until it has ended.
func (p *pulse) start(ctx context.Context, timeout time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx, timeout/3, quit)
	}()
	return func() {
		defer cancel()
		close(quit)
		select {
		case <-done:
		case <-time.After(time.Second): // a request hangs; give it up
			cancel()
			<-done
		}
	}
}

func (p *pulse) run(ctx context.Context, every time.Duration, quit <-chan struct{}) {
	var ticks <-chan time.Time
	if every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-quit:
			return
		case <-ticks:
		case <-p.wake:
		}
		p.send(ctx)
	}
}

// send makes one heartbeat. Once the SDK has ended the activity's context it
// hears no further answer, so from then on the server is asked directly: an
// action that goes on after an operator's pause can still be cancelled.
func (p *pulse) send(ctx context.Context) {
	p.mu.Lock()
	b := p.last
	p.mu.Unlock()
	if !p.direct.Load() {
		activity.RecordHeartbeat(ctx, b)
		return
	}
	if err := activity.GetClient(ctx).RecordActivityHeartbeat(ctx, p.token, b); err != nil {
		select {
		case p.answers <- err:
		default:
		}
	}
}

// close records that the attempt ended, for the server's next one. The SDK
// flushes a beat it has buffered before it reports the failure.
func (p *pulse) close(ctx context.Context) {
	p.mu.Lock()
	p.last.Used++
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	p.send(ctx)
}
