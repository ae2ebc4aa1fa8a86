package permits

import (
	"time"

	"github.com/tidemill/tidemill/admission"
)

// How long calls may gather although nothing is out.
const (
	// longestRest bounds the rest after an answer; restShare is the part of the time
	// that permits are held for, as a divisor, which it may take, and restTrips is how
	// often it may take what a batch takes there and back.
	longestRest = 250 * time.Millisecond
	restShare   = 2
	restTrips   = 2
	// longestGather bounds how long a release that somebody waits for may wait for
	// company; gatherShare is the part of the time that permits are held for which it may
	// take, as a divisor.
	longestGather = 10 * time.Millisecond
	gatherShare   = 100
	// idleRelease is how long a release may wait for company while nobody waits for
	// the room that it makes.
	idleRelease = 250 * time.Millisecond
	// fresh is how long it counts that nobody waited.
	fresh = 500 * time.Millisecond
	// maxHolds is how many permits are watched.
	maxHolds = 4096
	// weight is that of what is known already, where one more time comes to an average.
	weight = 8
)

// pace says when the calls of a line may go. A call goes at once while little is
// asked, and so does a release that somebody waits for. After an answer the line rests
// before the next request, for a part of the time that work takes here, or for some times
// as long as the batch took: a batch costs a semaphore the same however many it serves,
// and work that is slow, or that a busy machine or server makes slow, is not made much
// slower. And a release of which the semaphore has just said that nobody waits for it goes
// with the next request.
type pace struct {
	calm  time.Time            // until when a release may take its time
	rest  time.Time            // until when a request should
	holds map[string]time.Time // when permits were heard of
	work  time.Duration        // how long permits are held for, on the average of late
	trip  time.Duration        // how long a batch is out, on the average of late
}

// heard learns from the answer to a batch, whose answers begin at first.
func (p *pace) heard(now time.Time, b *batch, result BatchResult, first int) {
	p.trip += (now.Sub(b.begun) - p.trip) / weight
	p.calm, p.rest = time.Time{}, now.Add(min(max(p.work/restShare, p.trip*restTrips), longestRest))
	if result.Waiting == 0 {
		p.calm = now.Add(fresh)
	}
	for i, c := range b.calls {
		granted := result.Answers[first+i].Decision
		if granted != nil && granted.Answer == admission.AnswerGranted {
			if p.holds == nil || len(p.holds) >= maxHolds { // most are given back elsewhere
				p.holds = map[string]time.Time{}
			}
			p.holds[c.id] = now
		}
	}
}

// released learns how long a permit was held for.
func (p *pace) released(now time.Time, id string) {
	since, known := p.holds[id]
	if !known {
		return
	}
	delete(p.holds, id)
	p.work += (now.Sub(since) - p.work) / weight
}

// due is when a call should go that was made at a time.
func (p *pace) due(c *call) time.Time {
	switch {
	case c.wire.Submit != nil:
		return p.rest
	case c.wire.Release != nil && c.made.Before(p.calm):
		return c.made.Add(idleRelease)
	case c.wire.Release != nil:
		return c.made.Add(min(p.work/gatherShare, longestGather))
	default:
		return c.made
	}
}
