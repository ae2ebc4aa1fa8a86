package workflows

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// How many decisions are brought to their owners in one go, and in how many bytes: the
// server ends a workflow that hands out more than two megabytes.
const (
	maxClump      = 500
	maxClumpBytes = 512 << 10
)

// maxAnswered is how many bytes of decisions travel with the answer to a batch.
const maxAnswered = 128 << 10

// Between two attempts to reach an owner. What is lost for longer is found when its
// lease runs out.
const (
	minPostRetry = time.Second
	maxPostRetry = 30 * time.Second
)

// post is what owners have yet to be told. One clump is under way at a time, so what
// is decided meanwhile goes together.
type post struct {
	waiting []permits.Message // to be sent, one for each owner, in the order of the first decision
	failed  []permits.Message // to be sent again
	retry   time.Time         // when
	pause   time.Duration     // before the next retry
	busy    bool
}

// add queues decisions, each with those of its owner that wait already.
func (p *post) add(decisions ...admission.Decision) {
	if len(decisions) > 0 {
		p.waiting = permits.Address(p.waiting, decisions...)
	}
}

// clump takes what is sent next. A message too large for it goes in parts.
func (p *post) clump() (clump []permits.Message) {
	most, bytes := maxClump, maxClumpBytes
	for len(p.waiting) > 0 {
		m := p.waiting[0]
		n, size := portion(m.Decisions, most, bytes)
		if n == 0 && len(clump) == 0 {
			n = 1
		}
		if n == 0 {
			break
		}
		most, bytes = most-n, bytes-size
		clump = append(clump, permits.Message{Owner: m.Owner, Decisions: m.Decisions[:n:n]})
		p.waiting = p.waiting[1:]
		if n < len(m.Decisions) {
			rest := permits.Message{Owner: m.Owner, Decisions: m.Decisions[n:]}
			p.waiting = append([]permits.Message{rest}, p.waiting...)
			break
		}
	}
	return clump
}

// portion is how many decisions there is room for, and how many bytes they take.
func portion(decisions []admission.Decision, most, bytes int) (n, size int) {
	for n < len(decisions) && n < most {
		raw, err := json.Marshal(decisions[n])
		if err != nil || size+len(raw) > bytes {
			break
		}
		size += len(raw)
		n++
	}
	return n, size
}

// lost keeps messages that did not arrive.
func (p *post) lost(now time.Time, messages []permits.Message) {
	if len(messages) == 0 {
		p.pause = 0
		return
	}
	p.pause = min(max(2*p.pause, minPostRetry), maxPostRetry)
	p.failed = append(p.failed, messages...)
	p.retry = now.Add(p.pause)
}

// due gives up the messages whose time has come to be sent again.
func (p *post) due(now time.Time) []permits.Message {
	if len(p.failed) == 0 || now.Before(p.retry) {
		return nil
	}
	due := p.failed
	p.failed, p.retry = nil, time.Time{}
	return due
}

func (p *post) empty() bool { return len(p.waiting)+len(p.failed) == 0 && !p.busy }

// deliver brings owners what was decided. It is an activity of its own and not a part
// of the task that decided: a permit must not be heard of before it is written down,
// for a task that is lost is decided anew, and then perhaps for another.
func (s *semaphore) deliver(ctx workflow.Context) {
	for _, m := range s.post.due(workflow.Now(ctx)) {
		s.post.add(m.Today(s.book, workflow.Now(ctx))...)
	}
	if s.post.busy || len(s.post.waiting) == 0 {
		return
	}
	messages := s.post.clump()
	s.post.busy = true
	future := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    permits.DeliverWithin + time.Second, // a lost worker holds up what comes after
		ScheduleToCloseTimeout: 30 * time.Second,                    // and so does none at all
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumAttempts: 3},
		Summary:                "brings owners what was decided",
	}), permits.NameDeliver, messages)
	workflow.GoNamed(ctx, "deliver", func(ctx workflow.Context) {
		var deliveries []permits.Delivery
		if err := future.Get(ctx, &deliveries); err != nil || len(deliveries) != len(messages) {
			workflow.GetLogger(ctx).Warn("decisions were not delivered, and will be again", "error", err)
			deliveries = make([]permits.Delivery, len(messages))
		}
		s.post.busy = false
		s.delivered(ctx, messages, deliveries)
	})
}

// delivered takes what became of messages: an owner that is gone gives back all it
// has.
func (s *semaphore) delivered(ctx workflow.Context, messages []permits.Message, deliveries []permits.Delivery) {
	now, gone := workflow.Now(ctx), 0
	var lost []permits.Message
	for i, m := range messages {
		switch deliveries[i] {
		case permits.Delivered:
		case permits.OwnerGone:
			gone += s.book.Gone(now, m.Owner)
		case permits.Undelivered:
			lost = append(lost, m)
		default: // the activity itself failed
			lost = append(lost, m)
		}
	}
	s.post.lost(now, lost)
	s.stirred = true
	if gone > 0 {
		s.decide(ctx)
	}
}
