package tidemill

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/activities/permits"
)

// journal is what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// scripted is a worker that notes what it is told.
type scripted struct {
	worker.Worker

	*journal
	name string
	err  error // of Start
}

func (s *scripted) Start() error { s.note("start " + s.name); return s.err }

func (s *scripted) Stop() { s.note("stop " + s.name) }

// flushing is a combiner that notes that it was closed.
type flushing struct {
	permits.Admitter
	*journal
}

func (f flushing) Close(context.Context) error { f.note("flush"); return errors.New("one is unheard") }

func two(graphsErr, booksErr error) (*twoWorkers, *journal) {
	j := &journal{}
	return &twoWorkers{
		Worker:     &scripted{journal: j, name: "graphs", err: graphsErr},
		semaphores: &scripted{journal: j, name: "books", err: booksErr},
		combiner:   flushing{journal: j}, stopping: make(chan struct{}),
	}, j
}

// Graphs that outlived the books would wait for permits that nobody gives, and what
// they give back last would be lost.
func TestOrderOfTwoWorkers(t *testing.T) {
	t.Parallel()
	w, j := two(nil, nil)
	require.NoError(t, w.Start())
	var all sync.WaitGroup
	for range 3 {
		all.Go(w.Stop)
	}
	all.Wait()
	require.Equal(t, []string{"start books", "start graphs", "stop graphs", "flush", "stop books"}, j.lines)
}

// A worker that does not start must leave nothing running.
func TestTwoWorkersThatDoNotStart(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w, j := two(nil, broken)
	require.ErrorIs(t, w.Start(), broken)
	require.Equal(t, []string{"start books"}, j.lines)
	w, j = two(broken, nil)
	require.ErrorIs(t, w.Run(nil), broken)
	require.Equal(t, []string{"start books", "start graphs", "stop books"}, j.lines)
}

// When the books fail, graphs that went on would stand still and look well.
func TestEitherWorkerEndsBoth(t *testing.T) {
	t.Parallel()
	w, j := two(nil, nil)
	first, second := errors.New("the namespace is gone"), errors.New("so it is")
	var heard []error
	failed := w.failed(func(err error) {
		heard = append(heard, err)
		w.Stop() // a hook may
	})
	ended := make(chan error)
	go func() { ended <- w.Run(nil) }()
	failed(first)
	failed(second)
	require.ErrorIs(t, <-ended, first)
	require.Equal(t, []error{first}, heard)
	require.Contains(t, j.lines, "stop graphs")
	require.Contains(t, j.lines, "stop books")

	w, _ = two(nil, nil)
	w.failed(nil)(first) // without a hook
	require.ErrorIs(t, w.Run(nil), first)
}
