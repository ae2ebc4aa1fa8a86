package admission

import "time"

// Standing is where one request of an owner stands. This is for an operator: it
// names owners and ids.
type Standing struct {
	Owner       Owner       `json:"owner"` // empty, for a request that has ended
	Explanation Explanation `json:"explanation"`
}

// Standings tells where the requests stand that a name may mean, in the order of
// their submits: the request of that id, or those of the workflow or process that is
// called so. It looks at all requests.
func (b *Book) Standings(now time.Time, name string) []Standing {
	var list []Standing
	for _, e := range b.inOrder() {
		if e.id == name || name != "" && (e.owner.Workflow == name || e.owner.Process == name) {
			x, _ := b.Explain(now, e.id)
			list = append(list, Standing{Owner: e.owner, Explanation: x})
		}
	}
	if len(list) == 0 {
		if x, ok := b.Explain(now, name); ok {
			list = append(list, Standing{Explanation: x})
		}
	}
	return list
}

// Recall gives the last answers to those of an owner's requests that it should have
// heard of: the permits that are held, and the ends that were remembered. One that
// waits, or that the book does not know, is left out.
func (b *Book) Recall(now time.Time, o Owner, ids []string) []Decision {
	t := max(b.clock, nanos(now))
	var list []Decision
	for _, id := range ids {
		if e := b.entries[id]; e != nil {
			if e.phase == phaseHeld && e.owner == o {
				d := b.granted(t, e)
				d.Waited, d.Repeated = time.Duration(e.granted-e.submitted), true
				list = append(list, d)
			}
			continue
		}
		if end, ok := b.memory.recall(t, id); ok {
			list = append(list, Decision{ID: id, Owner: o, Answer: end.Answer, Token: end.Token, Repeated: true})
		}
	}
	return list
}

// Load counts permits and waiting requests, as of the latest turn. It costs nothing.
func (b *Book) Load() (permits, queued int) { return len(b.all) - b.queued, b.queued }

// Grants is the number of permits that were ever given.
func (b *Book) Grants() uint64 { return b.token - b.base }
