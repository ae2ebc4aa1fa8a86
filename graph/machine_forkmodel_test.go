package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// forkModel is the rules of a fork told in the slowest and plainest way: time
// goes by in ticks, and at each tick everything is looked at again.
type forkModel struct {
	policy string
	quorum int
	window int
	merge  string
	takes  []int  // ticks, by branch
	fails  []bool // by branch
	writes []int  // the value of k that a branch sets; 0: none

	startedAt []int // tick, by branch; 0: never
	judged    []int // branches in the order they were judged
	rounds    [][]int
	failure   string
}

func drawForkModel(t *rapid.T) *forkModel {
	n := rapid.IntRange(1, 5).Draw(t, "branches")
	m := &forkModel{
		policy: rapid.SampledFrom([]string{"all", "any", "first_success", "quorum", "collect"}).Draw(t, "policy"),
		quorum: rapid.IntRange(1, n).Draw(t, "quorum"), window: rapid.IntRange(1, n).Draw(t, "window"),
		merge:     rapid.SampledFrom([]string{"reject_conflicts", "ordered_last_wins"}).Draw(t, "merge"),
		startedAt: make([]int, n),
	}
	for range n {
		m.takes = append(m.takes, rapid.IntRange(1, 4).Draw(t, "takes"))
		m.fails = append(m.fails, rapid.IntRange(0, 3).Draw(t, "fails") == 0)
		m.writes = append(m.writes, rapid.IntRange(0, 2).Draw(t, "writes"))
	}
	return m
}

// play lets the model run to the tick that decides the fork.
func (m *forkModel) play() {
	ended := map[int]bool{}
	for tick := 1; ; tick++ {
		for i := range m.takes {
			if m.startedAt[i] > 0 && m.startedAt[i]+m.takes[i] == tick {
				ended[i] = true
			}
		}
		var round []int
		for i := range m.takes {
			if ended[i] && !slices.Contains(m.judged, i) {
				round = append(round, i)
			}
		}
		if len(round) > 0 {
			m.rounds = append(m.rounds, round)
		}
		for _, i := range round {
			m.judged = append(m.judged, i)
			if m.decided() {
				return
			}
		}
		for i := range m.takes {
			if m.startedAt[i] == 0 && m.running(ended) < m.window {
				m.startedAt[i] = tick
			}
		}
	}
}

func (m *forkModel) running(ended map[int]bool) int {
	n := 0
	for i, at := range m.startedAt {
		if at > 0 && !ended[i] {
			n++
		}
	}
	return n
}

// decided reads the policy to the letter.
func (m *forkModel) decided() bool {
	n, won, lost := len(m.takes), len(m.winners()), len(m.judged)-len(m.winners())
	switch m.policy {
	case "all":
		if lost > 0 {
			m.failure = graph.ErrTypeForkBranchFailed
		}
		return lost > 0 || won == n
	case "any":
		if lost > 0 {
			m.failure = graph.ErrTypeForkBranchFailed
		}
		return true
	case "collect":
		return won+lost == n
	default:
		need := m.quorum
		if m.policy == "first_success" {
			need = 1
		}
		if n-lost < need {
			m.failure = graph.ErrTypeForkJoinUnsatisfied
		}
		return won == need || n-lost < need
	}
}

// winners are the branches that completed and count, in declared order.
func (m *forkModel) winners() []int {
	var winners []int
	for i := range m.takes {
		if slices.Contains(m.judged, i) && !m.fails[i] {
			winners = append(winners, i)
		}
	}
	return winners
}

// value is what k becomes; conflict when two winners disagree and may not.
func (m *forkModel) value() (k int, conflict bool) {
	for _, i := range m.winners() {
		if m.writes[i] == 0 {
			continue
		}
		conflict = conflict || m.merge == "reject_conflicts" && k != 0 && k != m.writes[i]
		k = m.writes[i]
	}
	return k, conflict
}

func (m *forkModel) document() string {
	var ids []string
	for i := range m.takes {
		ids = append(ids, fmt.Sprintf("b%d", i))
	}
	policy := m.policy
	if policy == "quorum" {
		policy = fmt.Sprintf("{quorum: %d}", m.quorum)
	}
	return fork(fmt.Sprintf(", join_policy: %s, max_concurrency: %d, merge: %s", policy, m.window, m.merge), strings.Join(ids, ", "))
}

func (m *forkModel) ending(i int) graph.Ending {
	switch {
	case m.fails[i]:
		return fails("boom").ending
	case m.writes[i] == 0:
		return outputs(fmt.Sprint(i)).ending
	default:
		return outputs(fmt.Sprint(i), fmt.Sprintf(`{"k":%d}`, m.writes[i])).ending
	}
}

// Whatever the policy, the window, the merge, and the order in which branches
// end, the machine does what the plain model does: it starts the same branches,
// fails for the same reason, joins the same outputs, and ends in the same state.
func TestForkAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := drawForkModel(rt)
		m.play()
		s := tell(rt, m.document(), "", nil, func(s *story) {
			s.batch, s.restores = rapid.IntRange(1, 3).Draw(rt, "batch"), rapid.Bool().Draw(rt, "restores")
		})
		s.advance()
		for _, round := range m.rounds {
			endings := map[graph.Address]graph.Ending{}
			var order []graph.Address
			for _, i := range round {
				order = append(order, graph.Address(fmt.Sprintf("b%d#1", i)))
				endings[order[len(order)-1]] = m.ending(i)
			}
			s.restore()
			s.endTogether(endings, rapid.Permutation(order).Draw(rt, "order")...)
		}
		for len(s.open) > 0 { // losers end as they like
			require.True(rt, s.open[0].cancelled, "a loser was not cancelled")
			require.Nil(rt, s.m.Outcome(), "a loser was not awaited")
			address := s.open[0].task.Run.Address
			s.endTogether(map[graph.Address]graph.Ending{address: outputs(`"late"`, `{"late":1}`).ending}, address)
		}
		m.check(rt, s)
	})
}

func (m *forkModel) check(t *rapid.T, s *story) {
	var started []string
	for i, at := range m.startedAt {
		if at > 0 {
			started = append(started, fmt.Sprintf("b%d {}", i))
		}
	}
	require.Equal(t, strings.Join(started, "; "), strings.Join(s.seen, "; "))
	k, conflict := m.value()
	if m.failure == "" && conflict {
		m.failure = graph.ErrTypeForkMergeFailed
	}
	o, cp := s.m.Outcome(), s.m.Checkpoint()
	require.NotNil(t, o)
	if m.failure != "" {
		require.Equal(t, m.failure, o.Failure.Type)
		require.Equal(t, "{}", string(cp.State.Raw()))
		return
	}
	require.Nil(t, o.Failure)
	require.Equal(t, len(started)+2, cp.Steps, "the branches that started, the join, and s")
	value, set := cp.State.Get("k")
	require.Equal(t, k != 0, set)
	require.True(t, !set || string(value) == fmt.Sprint(k))
	got, _ := cp.State.Get("got")
	require.Equal(t, string(got), string(o.Output))
	for i := range m.takes {
		key := fmt.Sprintf(`"b%d":`, i)
		joined := m.policy == "collect" || slices.Contains(m.winners(), i)
		require.Equal(t, joined, strings.Contains(string(got), key), "%s in %s", key, got)
	}
}
