package graph

import "fmt"

// PolicyKind is when a fork is decided.
type PolicyKind string

// The join policies.
const (
	JoinAll          PolicyKind = "all"           // every branch completed; the first failure fails the fork
	JoinAny          PolicyKind = "any"           // the first to settle, well or not
	JoinFirstSuccess PolicyKind = "first_success" // the first to complete; fails when none is left
	JoinQuorum       PolicyKind = "quorum"        // N completed; fails when N cannot be reached
	JoinCollect      PolicyKind = "collect"       // every branch settled; failures are data
)

// JoinPolicy is a fork's policy. N is set for a quorum.
type JoinPolicy struct {
	Kind PolicyKind `json:"kind"`
	N    int        `json:"n,omitempty"`
}

// String is the policy in words: all, quorum 2.
func (p *JoinPolicy) String() string {
	if p.Kind == JoinQuorum {
		return fmt.Sprintf("quorum %d", p.N)
	}
	return string(p.Kind)
}

// Verdict is what a fork's policy says of its branches.
type Verdict string

// The verdicts.
const (
	VerdictOpen   Verdict = ""       // more must settle
	VerdictJoin   Verdict = "join"   // go on with what completed
	VerdictBranch Verdict = "branch" // a branch's failure fails the fork
	VerdictNobody Verdict = "nobody" // too few are left to meet the policy
)

// judge takes into account what has settled since it last did, in declared
// order, up to the branch that decides the fork. One that completed beside that
// one came too late: how many outputs a join is given never hangs on how many
// ends one workflow task happened to bring.
func (m *Machine) judge(p *JoinPolicy, branches []Branch) Verdict {
	completed, failed := 0, 0
	count := func(b *Branch) {
		if b.Status == BranchCompleted {
			completed++
		} else {
			failed++
		}
	}
	for i := range branches {
		if branches[i].Judged {
			count(&branches[i])
		}
	}
	verdict := VerdictOpen
	for i := range branches {
		b := &branches[i]
		if !b.settled() || b.Judged {
			continue
		}
		if verdict == VerdictJoin {
			m.tooLate(b)
		}
		b.Judged = true
		if verdict == VerdictOpen {
			count(b)
			verdict = p.verdict(completed, failed, len(branches))
		}
	}
	return verdict
}

// tooLate makes a loser of a branch that completed when its fork was already
// decided.
func (m *Machine) tooLate(b *Branch) {
	if b.Status != BranchCompleted {
		return
	}
	f := decidedWithout()
	f.Node, f.Address = b.ID, b.Address
	*b = Branch{ID: b.ID, Address: b.Address, Status: BranchCancelled, Failure: f}
	m.record(b.ID).Status = NodeCancelled
}

// verdict is what the policy says of a fork of total branches.
func (p *JoinPolicy) verdict(completed, failed, total int) Verdict {
	switch p.Kind {
	case JoinAny:
		if failed > 0 {
			return VerdictBranch
		}
		return when(completed > 0, VerdictJoin)
	case JoinFirstSuccess:
		return needs(1, completed, failed, total)
	case JoinQuorum:
		return needs(p.N, completed, failed, total)
	case JoinCollect:
		return when(completed+failed == total, VerdictJoin)
	case JoinAll:
		if failed > 0 {
			return VerdictBranch
		}
		return when(completed == total, VerdictJoin)
	default:
		return VerdictNobody
	}
}

func needs(n, completed, failed, total int) Verdict {
	if completed >= n {
		return VerdictJoin
	}
	return when(total-failed < n, VerdictNobody)
}

func when(holds bool, v Verdict) Verdict {
	if holds {
		return v
	}
	return VerdictOpen
}
