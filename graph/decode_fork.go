package graph

import (
	"slices"

	"github.com/tidemill/tidemill/graph/internal/suggest"
	"github.com/tidemill/tidemill/graph/source"
)

// maxOpen bounds how many branches of one fork are open at once: a server
// refuses a run that has too many activities open.
const maxOpen = 500

// fork reads a fork. How it hangs together with its branches and its join is
// checked later, when all nodes are known.
func (d *decoder) fork(f field, node *Node) {
	node.Branches = d.branches(f)
	if join, ok := f.member("join"); ok {
		node.Join = d.target(join, "join")
		if node.Join == End {
			d.fail(join.at, codeInvalidTarget, "name a node of type join", "a fork cannot join at the end")
			node.Join = ""
		}
	} else {
		d.fail(f.at.key("join"), codeInvalidTarget, "add join: NODE", "the fork has no join")
	}
	node.JoinPolicy = &JoinPolicy{Kind: JoinAll}
	if policy, ok := f.member("join_policy"); ok {
		node.JoinPolicy = d.joinPolicy(policy, len(node.Branches))
	}
	node.Merge = MergeReject
	if merge, ok := f.member("merge"); ok {
		node.Merge, node.MergeCall = d.merge(merge)
	}
	node.MaxConcurrency = min(max(len(node.Branches), 1), maxOpen)
	if most, ok := f.member("max_concurrency"); ok {
		n, ok := d.integer(most, 1, codeExpectedPositive, "max_concurrency")
		if node.MaxConcurrency = n; ok && n > maxOpen {
			d.fail(most.at, codeExpectedPositive, "", "max_concurrency must be a whole number from 1 to %d", maxOpen)
		}
	}
}

func (d *decoder) branches(f field) []string {
	list, ok := f.member("branches")
	if !ok {
		d.fail(f.at.key("branches"), codeExpectedList, "add branches: [NODE, …]", "the fork has no branches")
		return nil
	}
	var branches []string
	for _, item := range d.items(list, "branches") {
		id, ok := d.id(item, "a branch")
		if ok && slices.Contains(branches, id) {
			d.fail(item.at, codeDuplicateID, "remove one of the two", "the branch %q is listed before", id)
		}
		branches = append(branches, id)
	}
	return branches
}

// policyWords are the policies that are one word.
func policyWords() []string {
	return []string{string(JoinAll), string(JoinAny), string(JoinFirstSuccess), string(JoinCollect)}
}

const policyFix = "write all, any, first_success, collect or {quorum: N}"

// joinPolicy reads a word or {quorum: N}.
func (d *decoder) joinPolicy(f field, branches int) *JoinPolicy {
	if f.isText() && slices.Contains(policyWords(), f.node.Text) {
		return &JoinPolicy{Kind: PolicyKind(f.node.Text)}
	}
	quorum, ok := f.member("quorum")
	switch {
	case f.isText():
		fix := policyFix
		if near := suggest.Nearest(f.node.Text, policyWords()); near != "" {
			fix = "did you mean " + near + "?"
		}
		d.fail(f.at, codeInvalidJoinPolicy, fix, "%q is not a join policy", f.node.Text)
	case f.kind() != source.Object || !ok || len(f.node.Members) != 1:
		d.fail(f.at, codeInvalidJoinPolicy, policyFix, "a join policy is a word or {quorum: N}")
	default:
		n, ok := d.integer(quorum, 1, codeInvalidQuorum, "a quorum")
		if ok && n > branches {
			d.fail(quorum.at, codeInvalidQuorum, "lower the quorum, or add branches", "the quorum is %d and the fork has %d branches", n, branches)
		}
		return &JoinPolicy{Kind: JoinQuorum, N: n}
	}
	return &JoinPolicy{Kind: JoinAll}
}

// merge reads a word or {call: NAME}.
func (d *decoder) merge(f field) (MergeKind, string) {
	if name, ok := callName(f); ok {
		return MergeCall, name
	}
	if kind := MergeKind(f.node.Text); f.isText() && (kind == MergeReject || kind == MergeLastWins) {
		return kind, ""
	}
	d.fail(f.at, codeInvalidMerge, "write reject_conflicts, ordered_last_wins or {call: NAME}", "this is not a merge policy")
	return MergeReject, ""
}

// joinAction reads what a join runs, which may be nothing.
func (d *decoder) joinAction(f field, node *Node) {
	if _, runs := f.member("run"); runs {
		d.action(f, node)
		return
	}
	for _, name := range ownFields(TypeJoin) {
		if extra, ok := f.member(name); ok {
			d.failKey(extra.at, codeConflictingFields, "add run: NAME, or remove "+name, "a join without run has no use for %s", name)
		}
	}
}
