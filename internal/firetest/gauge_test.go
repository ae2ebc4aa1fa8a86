package firetest_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// gauge is where the work under permits is done, and counts itself. A piece of work
// is a request to it: that of a killed process ends with the connection, as the
// process does.
type gauge struct {
	*httptest.Server

	mu    sync.Mutex
	done  map[string]int // by agent
	now   map[string]int // by agent; "global" is all of them
	peak  map[string]int
	gone  map[string]bool // owners that were terminated
	tells map[string][]chan struct{}
}

func newGauge(t *testing.T) *gauge {
	t.Helper()
	g := &gauge{done: map[string]int{}, now: map[string]int{}, peak: map[string]int{}, gone: map[string]bool{}, tells: map[string][]chan struct{}{}}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

// ServeHTTP does a piece of work.
func (g *gauge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	agent, owner := r.URL.Query().Get("agent"), r.URL.Query().Get("owner")
	length, err := time.ParseDuration(r.URL.Query().Get("for"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	over, ok := g.begin(agent, owner)
	if !ok {
		http.Error(w, "the owner is gone", http.StatusGone)
		return
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		g.end(agent, true)
	case <-r.Context().Done():
		g.end(agent, false)
	case <-over:
		g.end(agent, false)
	}
}

func (g *gauge) begin(agent, owner string) (over chan struct{}, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone[owner] {
		return nil, false
	}
	for _, key := range []string{agent, "global"} {
		g.now[key]++
		g.peak[key] = max(g.peak[key], g.now[key])
	}
	over = make(chan struct{})
	g.tells[owner] = append(g.tells[owner], over)
	return over, true
}

func (g *gauge) end(agent string, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now[agent]--
	g.now["global"]--
	if done {
		g.done[agent]++
	}
}

// forget ends the work of an owner that is about to be terminated: its worker hears
// of it only with the next heartbeat.
func (g *gauge) forget(owner string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone[owner] = true
	for _, over := range g.tells[owner] {
		close(over)
	}
	g.tells[owner] = nil
}

// peaks are the most pieces of work that were under way at a time, by agent.
func (g *gauge) peaks() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.peak)
}
