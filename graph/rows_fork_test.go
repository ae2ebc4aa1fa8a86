package graph_test

// forked is a document of a fork a with further fields (from 4:1 on), its
// branches b and c with theirs, and its join j.
func forked(fork, b, c string) string {
	return header +
		"  - {id: a, type: fork, " + fork + "}\n" +
		"  - {id: b, run: x, " + b + "}\n" +
		"  - {id: c, run: z, " + c + "}\n" +
		"  - {id: j, type: join, next: end}\n"
}

// sound is a fork with nothing wrong; others break one part of it.
const sound = "branches: [b, c], join: j"

// toJoin is the edge of a branch.
const toJoin = "next: j"

// brokenForks are the faults of a fork's own fields.
func brokenForks() []broken {
	return []broken{
		{forked("join: j", toJoin, toJoin), []string{"4:5 /nodes/0/branches expected_list"}},
		{forked("branches: b, join: j", toJoin, toJoin), []string{"4:35 /nodes/0/branches expected_list"}},
		// A fault that went unseen elsewhere: a join of nothing is met at once (A8).
		{forked("branches: [], join: j", toJoin, toJoin), []string{"4:35 /nodes/0/branches empty"}},
		{forked("branches: [b, 1, c], join: j", toJoin, toJoin), []string{"4:39 /nodes/0/branches/1 expected_nonempty_utf8_binary"}},
		{forked("branches: [b, c, x-], join: j", toJoin, toJoin), []string{"4:42 /nodes/0/branches/2 invalid_fork_topology"}},
		{forked("branches: [b, c, 'c d'], join: j", toJoin, toJoin), []string{"4:42 /nodes/0/branches/2 invalid_id"}},
		{forked("branches: [b, c, end], join: j", toJoin, toJoin), []string{"4:42 /nodes/0/branches/2 reserved_id"}},
		{forked("branches: [b, c, b], join: j", toJoin, toJoin), []string{"4:42 /nodes/0/branches/2 duplicate_id"}},
		{forked("branches: [b, c]", toJoin, toJoin), []string{"4:5 /nodes/0/join invalid_target"}},
		{forked("branches: [b, c], join: end", toJoin, toJoin), []string{"4:49 /nodes/0/join invalid_target"}},
		{forked("branches: [b, c], join: [j]", toJoin, toJoin), []string{"4:49 /nodes/0/join invalid_target"}},
		{forked(sound+", join_policy: most", toJoin, toJoin), []string{"4:65 /nodes/0/join_policy invalid_join_policy"}},
		{forked(sound+", join_policy: {quorum: 2, of: 3}", toJoin, toJoin), []string{"4:65 /nodes/0/join_policy invalid_join_policy"}},
		{forked(sound+", join_policy: 2", toJoin, toJoin), []string{"4:65 /nodes/0/join_policy invalid_join_policy"}},
		{forked(sound+", join_policy: {quorum: 0}", toJoin, toJoin), []string{"4:74 /nodes/0/join_policy/quorum invalid_quorum"}},
		{forked(sound+", join_policy: {quorum: 3}", toJoin, toJoin), []string{"4:74 /nodes/0/join_policy/quorum invalid_quorum"}},
		{forked(sound+", merge: newest", toJoin, toJoin), []string{"4:59 /nodes/0/merge invalid_merge_policy"}},
		{forked(sound+", merge: {calls: m}", toJoin, toJoin), []string{"4:59 /nodes/0/merge invalid_merge_policy"}},
		{forked(sound+", max_concurrency: 0", toJoin, toJoin), []string{"4:69 /nodes/0/max_concurrency expected_positive_integer"}},
		{forked(sound+", max_concurrency: 501", toJoin, toJoin), []string{"4:69 /nodes/0/max_concurrency expected_positive_integer"}},
		{forked(sound+", next: j", toJoin, toJoin), []string{"4:52 /nodes/0/next every_node_requires_explicit_edge"}},
		{forked(sound+", output: 1", toJoin, toJoin), []string{"4:52 /nodes/0/output unknown_field"}},
		{forked(sound+", on_error: end", toJoin, toJoin), []string{"4:52 /nodes/0/on_error unknown_field"}},
	}
}

// brokenTopologies are forks that do not hang together, or that something else
// leads into.
func brokenTopologies() []broken {
	const more = "  - {id: d, type: fork, branches: [e, f], join: k}\n  - {id: e, run: x, next: k}\n  - {id: f, run: x, next: k}\n  - {id: k, type: join, next: end}\n"
	loop := "  - {id: l, type: loop, while: 'true', max_iterations: 1, body: "
	return []broken{
		// Conformance 7 to 9: past the join, by a route, and what no branch can be.
		{forked(sound, "next: end", toJoin), []string{"5:27 /nodes/1/next invalid_fork_topology"}},
		{forked(sound, "next: {route: {call: f}}", toJoin), []string{"5:27 /nodes/1/next invalid_fork_topology"}},
		{forked(sound, "next: {cases: [{when: 'true', to: j}], default: j}", toJoin), []string{"5:27 /nodes/1/next invalid_fork_topology"}},
		{forked("branches: [b, c, a], join: j", toJoin, toJoin), []string{"4:42 /nodes/0/branches/2 invalid_fork_topology"}},
		{forked("branches: [b, c, j], join: j", toJoin, toJoin), []string{"4:42 /nodes/0/branches/2 invalid_fork_topology"}},
		{forked("branches: [b, c, d], join: j", toJoin, toJoin) + more, []string{"4:42 /nodes/0/branches/2 invalid_fork_topology"}},
		{forked("branches: [b, c, l], join: j", toJoin, toJoin) + loop + "a, done: end}\n", []string{"4:42 /nodes/0/branches/2 invalid_fork_topology"}},
		{forked("branches: [b, c, k], join: j", toJoin, toJoin) + more, []string{"4:42 /nodes/0/branches/2 invalid_fork_topology"}},
		{forked("branches: [b, c], join: jj", toJoin, toJoin), []string{"4:49 /nodes/0/join invalid_fork_topology"}},
		// Conformance 16: a fork ends at a join.
		{
			header + "  - {id: a, type: fork, branches: [b], join: j}\n  - {id: b, run: x, next: j}\n  - {id: j, run: z, next: end}\n",
			[]string{"4:46 /nodes/0/join join_must_reference_join_node"},
		},
		{
			forked(sound, toJoin, toJoin) + "  - {id: d, type: fork, branches: [c], join: k}\n  - {id: k, type: join, next: end}\n",
			[]string{"8:36 /nodes/4/branches/0 shared_fork_branch"},
		},
		{
			forked(sound, toJoin, toJoin) + "  - {id: d, type: fork, branches: [e], join: j}\n  - {id: e, run: x, next: j}\n",
			[]string{"8:46 /nodes/4/join shared_fork_join"},
		},
		// A28: ways into a fork, and past its join, that are not the fork's.
		{
			"id: g\nentry: b\nnodes:\n  - {id: a, type: fork, " + sound + "}\n  - {id: b, run: x, next: j}\n  - {id: c, run: z, next: j}\n  - {id: j, type: join, next: end}\n",
			[]string{"2:8 /entry invalid_fork_topology"},
		},
		{forked(sound, toJoin, toJoin) + "  - {id: d, type: set, next: b}\n", []string{"8:30 /nodes/4/next invalid_fork_topology"}},
		{forked(sound, toJoin, toJoin) + "  - {id: d, type: set, next: j}\n", []string{"8:30 /nodes/4/next join_has_external_predecessors"}},
		{forked(sound, toJoin, toJoin) + "  - {id: d, run: x, on_error: c, next: end}\n", []string{"8:31 /nodes/4/on_error invalid_fork_topology"}},
		{forked(sound, toJoin, toJoin) + "  - {id: d, type: dynamic, choose: {call: f}, targets: [a, c]}\n", []string{"8:60 /nodes/4/targets/1 invalid_fork_topology"}},
		{forked(sound, toJoin, toJoin) + loop + "b}\n", []string{"8:65 /nodes/4/body invalid_fork_topology"}},
		{forked(sound, toJoin, toJoin) + "  - {id: d, type: branch, cases: [{when: 'true', to: c}], default: j}\n", []string{"8:54 /nodes/4/cases/0/to invalid_fork_topology", "8:68 /nodes/4/default join_has_external_predecessors"}},
	}
}

// brokenRecoveries are failures of branches that lead nowhere, and branches
// whose deltas cannot be merged.
func brokenRecoveries() []broken {
	return []broken{
		{forked(sound, "on_error: end, next: j", toJoin), []string{"5:31 /nodes/1/on_error invalid_on_error"}},
		{forked(sound, "on_error: {cases: [{when: 'true', to: end}]}, next: j", toJoin), []string{"5:31 /nodes/1/on_error invalid_on_error"}},
		{forked(sound, "on_error: {output: 1, default: end}, next: j", toJoin), []string{"5:43 /nodes/1/on_error/default invalid_on_error"}},
		{forked(sound, "on_error: {delta: 1}, next: j", toJoin), []string{"5:39 /nodes/1/on_error/delta expected_map"}},
		{forked(sound, "on_error: {output: '${ result }'}, next: j", toJoin), []string{"5:44 /nodes/1/on_error/output wrong_scope"}},
		{forked(sound, "on_error: {delta: {token: hunter2}}, next: j", toJoin), []string{"5:47 /nodes/1/on_error/delta/token secret_literal"}},
		{act("on_error: {output: 1}"), []string{"5:15 /nodes/0/on_error invalid_on_error"}},
		{act("on_error: {delta: {}}"), []string{"5:15 /nodes/0/on_error invalid_on_error"}},
		{
			header + "  - {id: a, type: fork, branches: [b], join: j}\n  - {id: b, type: pause, expires: 1h, on_expire: end, next: j}\n  - {id: j, type: join, next: end}\n",
			[]string{"5:50 /nodes/1/on_expire invalid_fork_topology"},
		},
		// A16: two writers of one key are told before anything runs.
		{forked(sound, "delta: {k: 1}, next: j", "delta: {k: 2, l: 3}, next: j"), []string{"4:39 /nodes/0/branches/1 conflicting_writers"}},
		{forked(sound, "delta: {k: {a: 1}}, next: j", "delta: {k: {b: 1}}, next: j"), []string{"4:39 /nodes/0/branches/1 conflicting_writers"}},
		{forked(sound+", join_policy: {quorum: 2}", "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"), []string{"4:39 /nodes/0/branches/1 conflicting_writers"}},
		{
			"state_reducers: {k: reject_conflict}\n" + forked(sound, "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"),
			[]string{"5:39 /nodes/0/branches/1 conflicting_writers"},
		},
	}
}

// warnedForks are forks that compile, with every warning they give.
func warnedForks() []broken {
	return []broken{
		{forked(sound, "delta: {k: '${ result }'}, next: j", "delta: {k: 2}, next: j"), []string{"4:39 /nodes/0/branches/1 possible_conflict"}},
		{
			header + "  - {id: a, type: fork, branches: [b, c, d], join: j, join_policy: {quorum: 2}}\n  - {id: b, run: x, delta: {k: 1}, next: j}\n" +
				"  - {id: c, run: x, delta: {k: 2}, next: j}\n  - {id: d, run: x, next: j}\n  - {id: j, type: join, next: end}\n",
			[]string{"4:39 /nodes/0/branches/1 possible_conflict"},
		},
		{forked(sound+", merge: {call: m}", toJoin, toJoin), []string{"4:59 /nodes/0/merge unknown_callback"}},
	}
}

// soundForks are forks that nothing is to be said about: equal values and keys
// that combine are no conflict, and of two rivals only one is merged.
func soundForks() []string {
	return []string{
		forked(sound, toJoin, toJoin),
		forked(sound, "delta: {k: 1}, next: j", "delta: {k: 1.0}, next: j"),
		"state_reducers: {k: sum}\n" + forked(sound, "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"),
		forked(sound+", join_policy: any", "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"),
		forked(sound+", join_policy: first_success", "delta: {k: '${ result }'}, next: j", "delta: {k: 2}, next: j"),
		forked(sound+", join_policy: {quorum: 1}", "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"),
		forked(sound+", merge: ordered_last_wins", "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"),
		forked(sound, "on_error: {output: null, delta: {e: '${ error.type }'}}, next: j", "retry: {max_attempts: 3}, next: j"),
		header + "  - {id: a, type: fork, branches: [b], join: j}\n  - {id: b, type: pause, expires: 1h, on_error: {output: late}, next: j}\n" +
			"  - {id: j, type: join, run: z, args: {all: '${ input }'}, delta: {r: '${ result }'}, on_error: end, next: end}\n",
		// The fork may stand in a loop, which counts its turns.
		"id: g\nentry: l\nnodes:\n  - {id: l, type: loop, while: 'true', body: a, max_iterations: 3}\n  - {id: a, type: fork, branches: [b], join: j}\n" +
			"  - {id: b, run: x, next: j}\n  - {id: j, type: join, next: l}\n",
	}
}
