package features_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/features"
	"github.com/tidemill/tidemill/tidemilltest"
)

// The test kit must tell of every graph the same story as a real server does, or what
// it says about a user's graph is worth nothing. So it must when the run is restored
// from its checkpoint all the time, and when every attempt needs a permit.
func TestFeaturesInVirtualTime(t *testing.T) {
	t.Parallel()
	app := features.NewApp(features.ServiceAddress)
	for name, change := range map[string]func(*tidemilltest.Scenario){
		"plain":   func(*tidemilltest.Scenario) {},
		"carried": func(s *tidemilltest.Scenario) { s.Carry = true },
		"permits": func(s *tidemilltest.Scenario) { s.Permits = &tidemilltest.Permits{} },
	} {
		for _, s := range stories() {
			t.Run(name+" "+s.graph+" "+s.input, func(t *testing.T) {
				t.Parallel()
				scenario := s.scenario(app)
				change(&scenario)
				tidemilltest.Play(t, scenario).Require(s.expect())
			})
		}
	}
}

// scenario is the story for the test kit, with the neighbours in fakes.
func (s story) scenario(app *tidemill.App) tidemilltest.Scenario {
	scenario := tidemilltest.Scenario{
		App: app, Graph: s.graph, Input: json.RawMessage(s.input),
		Secrets: map[string]string{features.SecretName: token}, ThroughPauses: true,
	}
	switch s.graph {
	case "http", "node-result", "secrets":
		scenario.Fakes = tidemilltest.Fakes{"http": tidemilltest.Serve(features.Service(token))}
	case "foreign":
		scenario.Fakes = tidemilltest.Fakes{"PickItem": tidemilltest.Do(pick)}
	}
	for _, a := range s.answers {
		scenario.Answers = append(scenario.Answers, tidemilltest.Answer{Pause: a.pause, Input: json.RawMessage(a.input)})
	}
	return scenario
}

// pick answers as the other team's worker does.
func pick(_ context.Context, in struct{ Item string }) (map[string]string, error) {
	if in.Item == "sofa" {
		return nil, tidemill.NewError("NoStock", "sold out").NotRetryable()
	}
	return map[string]string{"shelf": "B4"}, nil
}

func (s story) expect() tidemilltest.Expect {
	if s.status == "" {
		return tidemilltest.Expect{Output: json.RawMessage(s.output)}
	}
	failure, cause, caused := strings.Cut(s.failure, "/")
	e := tidemilltest.Expect{Status: s.status, Error: &tidemilltest.ExpectError{Type: failure}}
	if caused {
		e.Error.Cause = &tidemilltest.ExpectError{Type: cause}
	}
	return e
}

// A story that expects something else must be seen to fail.
func TestVirtualTimeTellsLies(t *testing.T) {
	t.Parallel()
	app := features.NewApp(features.ServiceAddress)
	for _, s := range stories() {
		result, err := tidemilltest.Simulate(t.Context(), s.scenario(app))
		require.NoError(t, err)
		require.Empty(t, s.expect().Check(result))
		s.output, s.failure = `"a lie"`, "a_lie"
		require.NotEmpty(t, s.expect().Check(result), s.graph)
	}
}
