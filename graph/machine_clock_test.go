package graph_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A branch that ends beside a pause lets the fork start another: the clock must
// not stand still between the two, or the next task would know of no deadline.
func TestClockBetweenBranches(t *testing.T) {
	t.Parallel()
	s := tell(t, "deadline: 1h\n"+fork(", max_concurrency: 2", "a, b, c", "a: type: pause"), "", plays{
		"b": {after(60, outputs(`1`))}, "c": {after(60, outputs(`2`))},
	})
	s.sleep(90 * time.Second)
	require.Len(t, s.tasks, 2)
	require.Equal(t, noon.Add(time.Hour), *s.tasks[1].Run.Deadline)

	s.sleep(time.Hour - time.Minute) // from 2m on the run is paused
	require.True(t, s.m.Paused())
	_, running := s.m.Deadline()
	require.False(t, running)
}
