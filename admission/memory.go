package admission

import "time"

// How long and how many endings are remembered, so that a request that comes
// twice gets its answer again.
const (
	rememberFor  = 10 * time.Minute
	rememberMost = 4_096
)

// Ending is the end of a request, remembered by its id.
type Ending struct {
	ID     string `json:"id"`
	Answer Answer `json:"answer"`
	Token  uint64 `json:"token,omitempty"`
	At     int64  `json:"at"` // nanoseconds since 1970
}

// Tombstone refuses a request that was cancelled, possibly before it came.
type Tombstone struct {
	ID    string `json:"id"`
	Until int64  `json:"until"` // nanoseconds since 1970
}

// memory holds endings and tombstones, each oldest first.
type memory struct {
	endings []Ending
	end     map[string]Ending
	tombs   []Tombstone
	tomb    map[string]int64
}

func newMemory() memory { return memory{end: map[string]Ending{}, tomb: map[string]int64{}} }

func (m *memory) remember(e Ending) {
	m.endings = append(m.endings, e)
	m.end[e.ID] = e
	for len(m.endings) > rememberMost {
		m.dropEnding()
	}
}

func (m *memory) dropEnding() {
	first := m.endings[0]
	m.endings = m.endings[1:]
	if m.end[first.ID] == first {
		delete(m.end, first.ID)
	}
}

// bury refuses an id until a time. The latest time counts.
func (m *memory) bury(id string, until int64) {
	if m.tomb[id] >= until {
		return
	}
	m.tomb[id] = until
	m.tombs = append(m.tombs, Tombstone{id, until})
}

// forget drops what has had its time.
func (m *memory) forget(now int64) {
	for len(m.endings) > 0 && m.endings[0].At+int64(rememberFor) <= now {
		m.dropEnding()
	}
	for len(m.tombs) > 0 && m.tombs[0].Until <= now {
		first := m.tombs[0]
		m.tombs = m.tombs[1:]
		if m.tomb[first.ID] == first.Until {
			delete(m.tomb, first.ID)
		}
	}
}

// recall gives the ending of an id: what became of it, or that it is refused.
func (m *memory) recall(now int64, id string) (Ending, bool) {
	if e, ok := m.end[id]; ok && e.At+int64(rememberFor) > now {
		return e, true
	}
	if until, ok := m.tomb[id]; ok && until > now {
		return Ending{ID: id, Answer: AnswerCancelled, At: now}, true
	}
	return Ending{}, false
}
