package graph_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// elsewhere are the error types that only the wrapper of actions, the http
// action or the workflow around the machine gives. They are tested there.
func elsewhere() []string {
	return []string{
		graph.ErrTypeInvalidDocument, graph.ErrTypeUnknownGraph, graph.ErrTypeRetryPolicy,
		graph.ErrTypeActionException, graph.ErrTypeActionTimedOut, graph.ErrTypeNotRegistered,
		graph.ErrTypeInvalidActionResult,
		graph.ErrTypeClassificationFailed, // which fails no node: it waits, see TestDenials
		graph.ErrTypeChildFailed, graph.ErrTypeChildTimedOut, graph.ErrTypeChildCancelled, graph.ErrTypeChildStartFailed,
		graph.ErrTypeHTTPHostRefused, graph.ErrTypeHTTPUnreachable, graph.ErrTypeHTTPStatusPrefix,
	}
}

// A histories' reader looks error types up by name, so one that nothing gives is
// a promise nobody keeps. Each is given by a smallest story here, or is on the
// list of those given elsewhere.
func TestEveryErrorTypeHasAStory(t *testing.T) {
	t.Parallel()
	given := elsewhere()
	for errorType, failure := range smallestFailures(t) {
		require.NotNil(t, failure, errorType)
		require.Equal(t, errorType, failure.Type, failure.Message)
		require.NotEmpty(t, failure.Message, errorType)
		require.NotContains(t, given, errorType)
		given = append(given, errorType)
	}
	slices.Sort(given)
	require.Equal(t, declaredErrorTypes(t), given)
}

// declaredErrorTypes are the constants of errors.go, sorted.
func declaredErrorTypes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	require.NoError(t, err)
	var types []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "ErrType") {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			types = append(types, text)
		}
		return true
	})
	slices.Sort(types)
	return types
}

// smallestFailures are failures by the type they must have.
func smallestFailures(t *testing.T) map[string]*graph.Failure {
	t.Helper()
	ends := func(doc, input string, p plays) *graph.Failure {
		return tell(t, doc, input, p).run().m.Outcome().Failure
	}
	set := func(fields string) string {
		return "entry: s\nnodes: [{id: s, type: set, " + fields + ", next: end}]\n"
	}
	refuses := func(fields string, a graph.Answer) *graph.Failure {
		return tell(t, pauseNode(fields), "", nil).run().m.Judge(a)
	}
	reduces := func(kind, delta string) *graph.Failure {
		return ends("state_reducers: {k: "+kind+"}\n"+oneAction(""), `{"k":9223372036854775807}`, plays{"a": {oks(delta)}})
	}
	expired := tell(t, pauseNode("expires: 1m, "), "", nil).run().sleep(time.Minute)
	late := tell(t, oneAction(""), "", plays{"a": {blocks()}}, limited(time.Minute)).run()
	late.step(time.Time{})
	stopped := tell(t, pauseNode(""), "", nil).run().cancel("enough")
	misfit := tell(t, pauseNode("resume_schema: {type: integer}, "), "", nil).run()
	require.Nil(t, misfit.answer(graph.Answer{Input: raw(`"x"`)}))
	closed := tell(t, "entry: p\nnodes: [{id: p, type: pause, next: p}]\n", "", nil).run()
	require.Nil(t, closed.answer(graph.Answer{Input: raw(`1`)}))
	_, options := graph.ParseRunOptions([]byte(`{"nope":1}`))
	_, input := graph.CheckInput(compileStory(t, abc).Document, json.RawMessage(`7`))
	secret := compileStory(t, oneAction(`args: {x: "${ secret('KEY') }"}, `)).Document.Nodes[0]
	program, err := graph.CompileTask(&secret)
	require.NoError(t, err)
	_, noSecret := program.Args(&graph.Task{Node: &secret}, nil)
	broken := func(from, to string) *graph.Failure { return restoreBroken(t, from, to) }
	return map[string]*graph.Failure{
		graph.ErrTypeInvalidRunOptions: options,
		graph.ErrTypeInputSchema:       input,
		graph.ErrTypeOutputSchema:      ends("output_schema: {type: integer}\n"+set("output: x"), "", nil),
		graph.ErrTypeNodeInputSchema:   ends(set("input_schema: {type: integer}"), "", nil),
		graph.ErrTypeNodeOutputSchema:  ends(set("output: x, output_schema: {type: integer}"), "", nil),

		graph.ErrTypeWorkerLost:       ends(oneAction("max_interruptions: 0, "), "", plays{"a": {interrupted(graph.InterruptWorkerLost)}}),
		graph.ErrTypeRetryExhausted:   ends(oneAction("retry: {max_attempts: 2}, "), "", plays{"a": times(2, fails("x"))}),
		graph.ErrTypeExpressionFailed: ends(set(`output: "${ state.none }"`), "", nil),
		graph.ErrTypeInvalidOutput: ends("entry: a\nnodes: [{id: a, run: {activity: Py}, next: end}]\n", "", plays{"a": {{
			ending: graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: []byte(nested(513))}},
		}}}),
		graph.ErrTypeInvalidStateDelta: ends(set(`delta: "${ 7 }"`), "", nil),
		graph.ErrTypeInvalidControl:    ends(oneAction(""), "", plays{"a": {routes("")}}),
		graph.ErrTypeOutputTooLarge:    ends(pauseNode(`show: "${ input.k }", `), `{"k":"`+strings.Repeat("x", 3000)+`"}`, nil),
		graph.ErrTypeStateTooLarge:     ends(oneAction(""), "", plays{"a": {oks(`{"k":"` + strings.Repeat("x", 1<<20) + `"}`)}}),
		graph.ErrTypeSecretNotAllowed:  noSecret,
		graph.ErrTypeNumberOutOfRange:  ends(set(`output: "${ state.k + 1 }"`), `{"k":9223372036854775807}`, nil),

		graph.ErrTypeRouteFailed:            ends(oneAction(""), "", plays{"a": {routes("zz")}}),
		graph.ErrTypeTargetNotAllowed:       withCallback(t, "entry: b\nnodes: [{id: b, type: branch, choose: {call: f}, targets: [end]}]\n", "b"),
		graph.ErrTypeGraphLoopFailed:        withCallback(t, "entry: l\nnodes: [{id: l, type: loop, while: {call: f}, max_iterations: 1, body: s}, {id: s, type: set, next: l}]\n", 1),
		graph.ErrTypeForkBranchFailed:       ends(fork("", "a"), "", plays{"a": {fails("x")}}),
		graph.ErrTypeForkJoinUnsatisfied:    ends(fork(", join_policy: first_success", "a"), "", plays{"a": {fails("x")}}),
		graph.ErrTypeForkMergeFailed:        ends(fork("", "a, b"), "", plays{"a": {oks(`{"k":1}`)}, "b": {oks(`{"k":2}`)}}),
		graph.ErrTypeReducerConflict:        reduces("reject_conflict", `{"k":1}`),
		graph.ErrTypeReducerTypeMismatch:    reduces("sum", `{"k":"x"}`),
		graph.ErrTypeReducerNumericOverflow: reduces("sum", `{"k":1}`),
		graph.ErrTypeMapItemsInvalid:        ends(mapOver(""), `{"list":7}`, nil),
		graph.ErrTypeMapTolerance:           ends(mapOver(", items: [1]"), "", plays{"m/item": {fails("x")}}),
		graph.ErrTypeBudgetExhausted:        ends("max_steps: 1\n"+abc, "", plays{"a": {oks()}}),
		graph.ErrTypePauseExpired:           expired.m.Outcome().Failure,
		graph.ErrTypeDeadlineExceeded:       late.m.Outcome().Failure,
		graph.ErrTypeCancelled:              stopped.m.Outcome().Failure,

		graph.ErrTypeLimitReached:  turnsAway(t, occupied),
		graph.ErrTypeQueueFull:     turnsAway(t, full),
		graph.ErrTypeQueueTimeout:  turnsAway(t, tooLate),
		graph.ErrTypeDraining:      turnsAway(t, refusal(graph.ErrTypeDraining)),
		graph.ErrTypeInfeasible:    turnsAway(t, refusal(graph.ErrTypeInfeasible)),
		graph.ErrTypeWouldDeadlock: turnsAway(t, refusal(graph.ErrTypeWouldDeadlock)),
		graph.ErrTypeOwnerGone:     turnsAway(t, refusal(graph.ErrTypeOwnerGone)),

		graph.ErrTypeResumeInputRequired: refuses("", graph.Answer{}),
		graph.ErrTypeInvalidResumeInput:  lastRejection(misfit),
		graph.ErrTypeUnknownPause:        refuses("", graph.Answer{PauseID: "q#1", Input: raw(`1`)}),
		graph.ErrTypePauseClosed:         closed.m.Judge(graph.Answer{PauseID: "p#1", Input: raw(`1`)}),
		graph.ErrTypePauseAmbiguous:      twoPauses(t).Judge(graph.Answer{Input: raw(`1`)}),
		graph.ErrTypePauseDigestMismatch: refuses("", graph.Answer{Input: raw(`1`), Digest: "x"}),

		graph.ErrTypeInvalidCheckpoint:    broken(`"version":1`, `"version":9`),
		graph.ErrTypeCheckpointWorkflow:   broken(`"graph":"story"`, `"graph":"other"`),
		graph.ErrTypeCheckpointDefinition: broken(`"fingerprint":"`, `"fingerprint":"0`),
		graph.ErrTypeCheckpointComplete:   broken(`"state":`, `"stopping":{"status":"completed"},"outcome":{"status":"completed"},"state":`),
	}
}

// turnsAway is how a node fails that does not wait for its permit.
func turnsAway(t *testing.T, answer graph.Admission) *graph.Failure {
	t.Helper()
	return tell(t, oneAction("overflow: reject, "), "", nil, gated(answer)).run().m.Outcome().Failure
}

// withCallback is how a graph ends whose callback f gives a value.
func withCallback(t *testing.T, doc string, v any) *graph.Failure {
	t.Helper()
	s := tell(t, doc, "", nil, func(s *story) {
		evaluator, err := graph.NewEvaluator(s.compiled.Document, callbacks{"f": gives(v)})
		require.NoError(t, err)
		s.decider = evaluator
	})
	return s.run().m.Outcome().Failure
}

func lastRejection(s *story) *graph.Failure {
	last := s.m.Checkpoint().Rejected.Last
	return graph.Failf(last[len(last)-1].Type, "%s", last[len(last)-1].Message)
}

// restoreBroken is the refusal of a checkpoint in which a text was replaced.
func restoreBroken(t *testing.T, from, to string) *graph.Failure {
	t.Helper()
	s := tell(t, pauseNode(""), "", nil).run()
	good := text(t, s.m.Checkpoint())
	require.Contains(t, good, from)
	cp, failure := graph.ParseCheckpoint(json.RawMessage(strings.Replace(good, from, to, 1)))
	require.Nil(t, failure)
	_, failure = graph.Restore(s.compiled.Plan, cp, s.start)
	return failure
}
