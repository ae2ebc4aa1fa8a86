package tidemilltest

import (
	"fmt"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// Live is a scenario for a worker of a real server: its App has the fakes in the places
// of actions, and calls take their time.
type Live struct {
	App     *tidemill.App
	Graph   string
	Options tidemill.WorkerOptions // what the scenario says of the worker

	stage *stage
}

// Live gives a scenario for a worker. What happens to the run besides its actions,
// answers and a cancel, is for the caller to do. The clock gives the time since the
// start of the run.
func (s Scenario) Live(clock func() time.Duration) (*Live, error) {
	st, err := newStage(&s, clock)
	if err != nil {
		return nil, err
	}
	st.live = true
	return &Live{
		App: st.app, Graph: st.compiled.Document.ID, stage: st,
		Options: tidemill.WorkerOptions{Secrets: secrets(s.Secrets), Limits: s.Limits},
	}, nil
}

// Calls are the calls so far, in the order in which they began.
func (l *Live) Calls() []Call {
	l.stage.mu.Lock()
	defer l.stage.mu.Unlock()
	return append([]Call(nil), l.stage.calls...)
}

// Err is a call that the scenario has no answer to.
func (l *Live) Err() error { return l.stage.failed() }

// NewApp makes an App for one case of the suite.
func (s *Suite) NewApp() *tidemill.App { return s.newApp() }

// Prompt is the scenario of a case as a server is given it, with every answer sent as
// soon as its pause is open; or why a server is not given it.
func (s *Suite) Prompt(c Case) (scenario Scenario, why string) {
	scenario = c.Scenario
	if c.slow != "" {
		return scenario, c.slow
	}
	scenario.App = s.newApp()
	scenario.Answers = append([]Answer(nil), scenario.Answers...)
	for i := range scenario.Answers {
		if scenario.Answers[i].At != 0 {
			return scenario, "an answer is sent at an instant of the run, which is done in virtual time alone"
		}
		scenario.Answers[i].After = 0
	}
	if scenario.Cancel.wanted() && scenario.Cancel.When == "" {
		return scenario, "the run is cancelled at an instant, which is done in virtual time alone"
	}
	if scenario.Cancel.wanted() {
		scenario.Cancel.At = time.Millisecond // its pause has opened by then
	}
	if foreign := foreignActivity(scenario); foreign != "" {
		return scenario, fmt.Sprintf("the activity %q is another worker's, and is faked in virtual time alone", foreign)
	}
	return scenario, ""
}

// foreignActivity is an activity of the graph that no worker of the App has.
func foreignActivity(s Scenario) string {
	st, err := newStage(&s, func() time.Duration { return 0 })
	if err != nil {
		return ""
	}
	names := st.named(func(n *graph.Node) string {
		if !n.Foreign() {
			return ""
		}
		return n.Run.Activity
	})
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// Names reports whether a pause is the one that an answer or a case speaks of.
func Names(pause string, open graph.OpenPause) bool { return names(pause, open) }
