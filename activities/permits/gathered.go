package permits

import (
	"context"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// maxBytes is about how large a batch may become. The server takes 2 MiB, and JSON
// may write a byte as six.
const maxBytes = 256 << 10

// batch is what goes out in one go.
type batch struct {
	calls  []*call // in order
	limits *admission.Limits
	begun  time.Time
	stop   context.CancelFunc
}

// gather takes a batch out of a queue. What speaks of a request that is already on
// its way stays behind, for the answer to that comes first; so does a second submit
// of one request.
func gather(queue []*call, flying map[string]bool) (out []*call, rest []*call) {
	held := map[string]bool{} // ids that stay behind
	owners := map[admission.Owner]bool{}
	asked := map[string]bool{} // ids with a submit in this batch
	calls, bytes, full := 0, 0, false
	for _, c := range queue {
		n, size := 1, c.size()
		if c.belief != nil && !owners[c.belief.Owner] {
			n++
		}
		full = full || len(out) > 0 && (calls+n > MaxCalls || bytes+size > maxBytes || c.alone || out[0].alone)
		if full || flying[c.id] || held[c.id] || c.wire.Submit != nil && asked[c.id] {
			held[c.id] = true
			rest = append(rest, c)
			continue
		}
		out = append(out, c)
		calls, bytes = calls+n, bytes+size
		if c.belief != nil {
			owners[c.belief.Owner] = true
		}
		if c.wire.Submit != nil {
			asked[c.id] = true
		}
	}
	return out, rest
}

// wire is the batch as it is sent. The beliefs come first, one of each owner: what
// an owner believes is said before what it asks for. The answers to the calls begin
// at first.
func (b *batch) wire() (sent Batch, first int) {
	sent = Batch{Limits: b.limits}
	place := map[admission.Owner]int{}
	for _, c := range b.calls {
		if c.belief == nil {
			continue
		}
		at, known := place[c.belief.Owner]
		if !known {
			at = len(sent.Calls)
			place[c.belief.Owner] = at
			sent.Calls = append(sent.Calls, Call{})
		}
		sent.Calls[at].Confirm = newer(sent.Calls[at].Confirm, c.belief)
	}
	first = len(sent.Calls)
	for _, c := range b.calls {
		sent.Calls = append(sent.Calls, c.wire)
	}
	return sent, first
}

// submits is how many requests the batch holds.
func (b *batch) submits() (n int) {
	for _, c := range b.calls {
		if c.wire.Submit != nil {
			n++
		}
	}
	return n
}
