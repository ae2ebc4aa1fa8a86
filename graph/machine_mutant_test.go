package graph_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// sample draws a value of its own: what is put into a checkpoint may be changed
// there.
func sample(t *rapid.T, pool []any) (v any) {
	require.NoError(t, json.Unmarshal([]byte(text(t, rapid.SampledFrom(pool).Draw(t, "value"))), &v))
	return v
}

// mutate changes one place of a JSON value: another value is put there, or it
// is taken away.
func mutate(t *rapid.T, v any, pool []any) any {
	switch at := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(at))
		if len(keys) == 0 || rapid.IntRange(0, 9).Draw(t, "here") == 0 {
			return sample(t, pool)
		}
		key := rapid.SampledFrom(keys).Draw(t, "key")
		if rapid.IntRange(0, 9).Draw(t, "delete") == 0 {
			delete(at, key)
			return at
		}
		at[key] = mutate(t, at[key], pool)
		return at
	case []any:
		if len(at) == 0 || rapid.IntRange(0, 9).Draw(t, "here") == 0 {
			return sample(t, pool)
		}
		i := rapid.IntRange(0, len(at)-1).Draw(t, "index")
		if rapid.IntRange(0, 9).Draw(t, "twice") == 0 {
			return append(at, at[i])
		}
		at[i] = mutate(t, at[i], pool)
		return at
	default:
		return sample(t, pool)
	}
}

// A checkpoint in which something was changed is refused, or makes a machine
// that takes any event and ends: no checkpoint, wherever it comes from, may
// bring down a workflow.
func TestMutatedCheckpoints(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPhase)
	checkMutants(t, compiled, everyPhaseCheckpoints(t, compiled))
}

// The same of checkpoints with branches.
func TestMutatedBranches(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyBranch)
	checkMutants(t, compiled, branchCheckpoints(t, compiled))
}

// The same of checkpoints with maps and children.
func TestMutatedParts(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPart)
	checkMutants(t, compiled, partCheckpoints(t, compiled))
}

// checkMutants changes checkpoints in many ways, and exercises those that are let
// through.
func checkMutants(t *testing.T, compiled *graph.Compiled, seeds []string) {
	t.Helper()
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(t, err)
	pool := []any{
		nil, true, 0, 1, -1, 2, 1e300, 9007199254740993, "", "x", "a", "w", "l", "p", "s", "b", "end", "a#1", "p#1", "l#1", "w#9", "none", "1h",
		"ready", "deciding", "running", "backoff", "interrupted", "waiting", "paused", "answered", "checking", "routing", "failed",
		"ending", "cancelling", "cancelled", "completed", "timed_out", "ok", "stop", "route", "pause", "2030-01-02T12:00:00Z",
		"forking", "mapping", "settled", "unstarted", "active", "skipped", "exceeded", "dismissed", "join",
		"f", "m", "c", "q", "m/item", "p/item", "w/item", "m#1", "m#1/0", "p#1/1", "c#1", "f#1", "r#1/3~2", "r#1/3~2/m#1", "m#1~2",
		map[string]any{},
		[]any{},
		map[string]any{"type": "x", "message": ""},
		map[string]any{"status": "failed"},
		map[string]any{"value": 1, "status": "unstarted"},
		map[string]any{"base": "m#1", "items": []any{}},
	}
	checkMutated(t, seeds, pool, func(t tester, mutant string) bool {
		cp, failure := graph.ParseCheckpoint(json.RawMessage(mutant))
		if failure != nil {
			require.Equal(t, "invalid_checkpoint", failure.Type)
			return false
		}
		m, failure := graph.Restore(compiled.Plan, cp, graph.Start{Now: noon})
		if failure != nil {
			return false
		}
		exercise(t, m, evaluator)
		return true
	})
}

// checkMutated tries seeds with one to three changes each, and makes sure that some are
// let through, however few are drawn: those are the point.
func checkMutated(t *testing.T, seeds []string, pool []any, try func(t tester, mutant string) bool) {
	t.Helper()
	mutants := rapid.Custom(func(rt *rapid.T) string {
		var v any
		require.NoError(rt, json.Unmarshal([]byte(rapid.SampledFrom(seeds).Draw(rt, "seed")), &v))
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			v = mutate(rt, v, pool)
		}
		return text(rt, v)
	})
	rapid.Check(t, func(rt *rapid.T) { try(rt, mutants.Draw(rt, "mutant")) })
	accepted := 0
	for example := range 100 { // the same ones in every run
		if try(t, mutants.Example(example)) {
			accepted++
		}
	}
	require.Positive(t, accepted)
}
