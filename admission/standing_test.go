package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// Why a run waits must be found by what an operator knows of it: the id of the
// workflow, not those of its requests.
func TestStandings(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	outside := request("outside", "A=1")
	outside.Owner = admission.Owner{Process: "cron"}
	d.ask(request("run/1", "A=1"), request("other/1", "A=1"), request("run/2", "A=1"), outside)

	of := func(name string) (ids []string) {
		for _, s := range d.Standings(d.now, name) {
			ids = append(ids, s.Explanation.ID+" "+string(s.Explanation.Answer)+" "+s.Owner.Workflow+s.Owner.Process)
		}
		return ids
	}
	require.Equal(t, []string{"run/1 granted run", "run/2 queued run"}, of("run"))
	require.Equal(t, []string{"other/1 queued other"}, of("other/1"))
	require.Equal(t, []string{"outside queued cron"}, of("cron"))
	require.Empty(t, of("nobody"))
	require.Empty(t, of(""))
	d.free("run/1")
	require.Equal(t, []string{"run/1 released "}, of("run/1"), "an end is remembered by its id")
	require.Equal(t, []string{"run/2 queued run"}, of("run"))
}

// A grant whose message was lost must be told again, with the lease of now, and to
// nobody but its owner.
func TestRecall(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("run/1", "A=1"), request("run/2", "A=1"), request("run/3", "A=1"))
	d.free("run/1")
	d.now = d.now.Add(10 * time.Second)
	d.Alive(d.now, ownerOf("run/2"))

	list := d.Recall(d.now, ownerOf("run/2"), []string{"run/1", "run/2", "run/3", "run/4"})
	require.Equal(t, []admission.Decision{
		{ID: "run/1", Owner: ownerOf("run/1"), Answer: admission.AnswerReleased, Token: 1, Repeated: true},
		{
			ID: "run/2", Owner: ownerOf("run/2"), Answer: admitted, Token: 2, Repeated: true,
			Lease: d.now.Add(time.Minute),
		},
	}, list)
	require.Empty(t, d.Recall(d.now, admission.Owner{Process: "run"}, []string{"run/2"}))
}

// The numbers that are cheap to read must be those of the whole status.
func TestLoad(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2"), Agents: agents("a", 1)})
	later := request("later", "A=1")
	later.VisibleAt = noon.Add(time.Hour)
	d.ask(request("x", "A=1"), request("y", "A=1"), request("z", "A=1"), request("p", "a"), request("q", "a"), later)
	permits, queued := d.Load()
	status := d.Status(d.now)
	require.Equal(t, []int{status.Permits, status.Queued}, []int{permits, queued})
	require.Equal(t, []int{3, 3}, []int{permits, queued})
	require.EqualValues(t, 3, d.Grants())
}
