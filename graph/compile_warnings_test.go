package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// warnedDocuments are documents that compile, with every warning they give.
func warnedDocuments() []broken {
	return append(append(warnedForks(), warnedMaps()...), []broken{
		{one("{id: a, type: set, next: {route: {call: pick}}}"), []string{"4:38 /nodes/0/next/route unknown_callback"}},
		{one("{id: a, run: x, args: {call: make}, next: end}"), []string{"4:27 /nodes/0/args unknown_callback"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: [b, end]"), []string{"6:13 /nodes/0/choose unknown_callback"}},
		{typed("branch", "cases: [{when: 'true', to: b}]"), []string{"6:12 /nodes/0/cases no_default"}},
		{one("{id: a, type: set, next: {cases: [{when: 'true', to: end}]}}"), []string{"4:30 /nodes/0/next no_default"}},
		{typed("pause", "next: b\n    expires: 1h"), []string{"7:14 /nodes/0/expires no_on_expire"}},
		{act("timeout: none"), []string{"5:14 /nodes/0/timeout no_timeout"}},
		{typed("wait", "next: b\n    for: 10ms"), []string{"7:10 /nodes/0/for timer_floor"}},
		{typed("pause", "next: b\n    on_expire: b\n    expires: 999ms"), []string{"8:14 /nodes/0/expires timer_floor"}},
		{root("deadline: 1ms"), []string{"1:11 /deadline timer_floor"}},
		{act("retry: {max_attempts: 2, backoff_ms: 500}"), []string{"5:42 /nodes/0/retry/backoff_ms timer_floor"}},
		{one(set) + "  - {id: b, type: set, next: end}", []string{"5:5 /nodes/1 unreachable_node"}},
		{typed("join", "next: b"), []string{"4:5 /nodes/0 orphan_join"}},
		{one("{id: a, type: set, next: a}"), []string{"2:8 /entry no_static_terminal_path", "4:5 /nodes/0 cycle_relies_on_global_max_steps"}},
		{one("{id: a, run: x, next: end, on_error: a}"), []string{"4:5 /nodes/0 cycle_relies_on_global_max_steps"}},
		// Conformance 19: a cycle that nothing leads to.
		{
			one(set) + "  - {id: b, type: set, next: c}\n  - {id: c, type: set, next: b}",
			[]string{"5:5 /nodes/1 unreachable_node", "5:5 /nodes/1 cycle_relies_on_global_max_steps", "6:5 /nodes/2 unreachable_node"},
		},
	}...)
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, w := range warnedDocuments() {
		t.Run(strings.Join(w.want, ", "), func(t *testing.T) {
			t.Parallel()
			compiled, found := graph.Compile("", []byte(w.doc), graph.CompileOptions{})
			require.NotNil(t, compiled, "%s\n%s", w.doc, found.Error())
			require.Equal(t, w.want, places(found))
			require.NoError(t, found.Err())
			require.Equal(t, found, compiled.Warnings)
		})
	}
}

// What a loop counts is bounded, and so is a wait that no timer is set for:
// neither deserves a warning. A callback may lead anywhere, so nothing is said
// to be out of reach behind one.
func TestNoWarnings(t *testing.T) {
	t.Parallel()
	known := graph.CompileOptions{Callbacks: map[string]int{"pick": 1}}
	for _, doc := range append(append(soundForks(), soundChildren()...), []string{
		header + "  - {id: a, type: loop, while: 'true', body: b, max_iterations: 3}\n  - {id: b, type: set, next: a}",
		header + "  - {id: a, type: loop, while: 'true', body: b, max_iterations: 3}\n" +
			"  - {id: b, type: loop, while: 'true', body: c, done: a, max_iterations: 3}\n  - {id: c, type: set, next: b}",
		act("retry: {backoff: 10ms}"),
		act("retry: {max_attempts: 5, backoff: 0}"),
		act("cancel_grace: 0"),
		typed("pause", "next: b\n    expires: none"),
		header + "  - {id: a, type: set, next: {route: {call: pick}}}\n  - {id: b, type: set, next: a}",
	}...) {
		_, found := graph.Compile("", []byte(doc), known)
		require.Empty(t, found, "%s\n%s", doc, found.Error())
	}
}

// A turn that leaves a loop by done and comes back starts its counter anew, so
// the loop bounds nothing there.
func TestCycleAroundALoop(t *testing.T) {
	t.Parallel()
	doc := header + "  - {id: a, type: loop, while: 'true', body: b, done: c, max_iterations: 3}\n" +
		"  - {id: b, type: set, next: a}\n  - {id: c, type: set, next: {cases: [{when: state.x, to: a}], default: end}}"
	_, found := graph.Compile("", []byte(doc), graph.CompileOptions{})
	require.Equal(t, []string{"4:5 /nodes/0 cycle_relies_on_global_max_steps"}, places(found))
	require.Contains(t, found[0].Message, "a, c")
}
