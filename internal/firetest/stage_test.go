package firetest_test

import (
	"context"
	"sync"
	"testing"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// stage is where the actions of a hall play, as they are told.
type stage struct {
	mu      sync.Mutex
	started map[string]int           // by name
	now     map[string]int           // by name
	all     int                      // under way
	most    int                      // that were under way at a time
	gates   map[string]chan struct{} // of those that hold
}

// part is what an action is told.
type part struct {
	Name  string
	Hold  bool // until the test lets it go
	Fails int  // so many attempts fail
	Pause bool // the first attempt asks for a person
}

func newStage() *stage {
	return &stage{started: map[string]int{}, now: map[string]int{}, gates: map[string]chan struct{}{}}
}

// play is the action.
func (s *stage) play(ctx context.Context, in part) (tidemill.Result, error) {
	attempt := s.begin(in.Name)
	defer s.end(in.Name)
	if in.Hold {
		select {
		case <-s.gate(in.Name):
		case <-ctx.Done():
			return tidemill.Result{}, ctx.Err()
		}
	}
	if attempt <= in.Fails {
		return tidemill.Result{}, tidemill.NewError("boom", "it was told to fail")
	}
	if in.Pause && attempt == 1 {
		return tidemill.Pause(tidemill.PauseRequest{Summary: "go on?"}), nil
	}
	return tidemill.Output(in.Name), nil
}

func (s *stage) begin(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started[name]++
	s.now[name]++
	s.all++
	s.most = max(s.most, s.all)
	return s.started[name]
}

func (s *stage) end(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[name]--
	s.all--
}

func (s *stage) gate(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

// let lets everything of the name go that holds, now or later.
func (s *stage) let(name string) { close(s.gate(name)) }

// playing is how many actions of the name are under way, begun how many ever began.
func (s *stage) playing(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now[name]
}

func (s *stage) begun(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started[name]
}

// plays waits until so many actions of the name are under way.
func (s *stage) plays(tb testing.TB, name string, n int) {
	tb.Helper()
	temporaltest.Wait(tb, patience, name+" to play", func() bool { return s.playing(name) == n })
}
