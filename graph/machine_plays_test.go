package graph_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// play is how one scheduling of a node goes in a story.
type play struct {
	ending  graph.Ending
	after   time.Duration // how long it takes
	blocks  bool          // until it is cancelled; after is its grace then
	returns bool          // its permit by itself
}

// plays are the plays of each node.
type plays = map[string][]play

// lasting makes a play take its time.
func (p play) lasting(d time.Duration) play {
	p.after = d
	return p
}

// returning makes a play give its permit back where it ends.
func (p play) returning() play {
	p.returns = true
	return p
}

// handingBack is an ending that says so.
func (p play) handingBack(task graph.Task, e graph.Ending) graph.Ending {
	if p.returns && task.Permit != nil {
		e.Released = task.Run.Token
	}
	return e
}

// saying sets what a cancelled play says of its effect.
func (p play) saying(effect string) play {
	p.ending.Failure = &graph.Failure{Type: graph.ErrTypeCancelled, Message: "stopped", Effect: effect}
	return p
}

// retryAfter makes a failure ask for a wait.
func (p play) retryAfter(d time.Duration) play {
	p.ending.RetryAfter = d
	return p
}

// used says how many attempts the driver has made in all.
func (p play) used(n int) play {
	p.ending.Used = n
	return p
}

// final makes a failure that no retry can change.
func (p play) final() play {
	p.ending.Final = true
	return p
}

func returns(r graph.Result) play {
	return play{ending: graph.Ending{Kind: graph.Returned, Result: &r}}
}

// outputs returns an output, and a delta when there is one.
func outputs(output string, delta ...string) play {
	return returns(graph.Result{Output: raw(output), Delta: object(delta)})
}

func oks(delta ...string) play {
	return returns(graph.Result{Control: graph.ControlOK, Delta: object(delta)})
}

func stops(output string, delta ...string) play {
	return returns(graph.Result{Control: graph.ControlStop, Output: raw(output), Delta: object(delta)})
}

func routes(target string, delta ...string) play {
	return returns(graph.Result{Control: graph.ControlRoute, Target: target, Delta: object(delta)})
}

func pauses(request graph.PauseRequest, delta ...string) play {
	return returns(graph.Result{Control: graph.ControlPause, Pause: &request, Delta: object(delta)})
}

func fails(errorType string) play {
	return play{ending: graph.Ending{Kind: graph.Failed, Failure: graph.Failf(errorType, "it failed")}}
}

func timesOut() play {
	return play{ending: graph.Ending{Kind: graph.TimedOut, Failure: graph.Failf(graph.ErrTypeActionTimedOut, "too slow")}}
}

func interrupted(by graph.Interruption) play {
	return play{ending: graph.Ending{Kind: graph.Interrupted, Interruption: by}}
}

func blocks() play { return play{blocks: true} }

// times repeats a play.
func times(n int, p play) []play {
	list := make([]play, n)
	for i := range list {
		list[i] = p
	}
	return list
}

// raw is canonical JSON text; scripts hold no other.
func raw(text string) json.RawMessage {
	canonical, err := value.Canonical(json.RawMessage(text))
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, text))
	}
	return canonical
}

func object(delta []string) value.Object {
	if len(delta) == 0 {
		return nil
	}
	o, err := value.ParseObject(json.RawMessage(delta[0]))
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, delta[0]))
	}
	return o
}

// wrapped is what the wrapper of an action makes of its answer: the node's
// schemas are checked and its output and delta evaluated there. An activity that
// is not ours has no wrapper.
func wrapped(t tester, task graph.Task, e graph.Ending) graph.Ending {
	t.Helper()
	node := task.Node
	if node.Foreign() || node.InputSchema == nil && node.OutputSchema == nil && node.Output == nil && node.Delta == nil {
		return e
	}
	program, err := graph.CompileTask(node)
	require.NoError(t, err)
	if _, failure := program.Args(&task, nil); failure != nil {
		return graph.Ending{Kind: graph.Failed, Failure: failure, Final: true}
	}
	if e.Kind != graph.Returned || e.Result.Control == graph.ControlPause || e.Result.Control == graph.ControlRoute {
		return e
	}
	output, delta, failure := program.Finish(&task, e.Result.Output, e.Result.Output)
	if failure != nil {
		return graph.Ending{Kind: graph.Failed, Failure: failure, Final: true}
	}
	result := *e.Result
	result.Delta = value.NewObject(append(result.Delta.Clone(), delta...)...)
	if result.Control != graph.ControlOK {
		result.Output = output
	} else if node.Output != nil {
		result.Control, result.Output = graph.ControlOutput, output
	}
	e.Result = &result
	return e
}

// describe is an ending in a transcript.
func describe(e graph.Ending) string { return e.String() }

// effectLine is an effect in a transcript.
func effectLine(effect graph.Effect) string { return graph.EffectLine(effect, noon) }
