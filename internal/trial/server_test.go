package trial_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/internal/trial"
	"github.com/tidemill/tidemill/tidemilltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

const document = `version: 1
id: tried
entry: load
nodes:
  - {id: load, run: load, retry: {max_attempts: 3, backoff: 1s}, timeout: 2s, next: ask}
  - {id: ask, type: pause, show: "${ input }", expires: 1h, on_expire: gone, next: {cases: [{when: input == 'wait', to: wait}], default: end}}
  - {id: wait, type: wait, for: 20s, next: end}
  - {id: gone, type: set, output: gone, next: end}
`

// suite loads cases of the document; newApp may bring actions of Go.
func suite(t *testing.T, cases string, newApp func() *tidemill.App) *tidemilltest.Suite {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "tried.test.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tried.yaml"), []byte(document), 0o600))
	require.NoError(t, os.WriteFile(path, []byte(cases), 0o600))
	s, err := tidemilltest.LoadCases(path, newApp)
	require.NoError(t, err)
	return s
}

// What a server can do in its own time is done there, and comes out as in virtual time;
// for the rest there is a reason.
func TestCasesOnServer(t *testing.T) {
	t.Parallel()
	s := suite(t, `
fakes: {load: {output: 7}}
cases:
  - {name: answered, answers: [{pause: ask, input: yes sir, after: 20m}], expect: {output: 7}}
  - {name: paused, expect: {status: paused}}
  - {name: retried, fakes: {load: [{error: busy}, {hang: true}, {output: 8, delay: 1s}]}, expect: {status: paused, took: 5s}}
  - {name: failed, fakes: {load: {error: {type: gone, final: true}}}, expect: {error: gone}}
  - {name: cancelled, cancel: {when: ask, at: 1m}, expect: {status: cancelled}}
  - {name: wrong, expect: {status: completed}}
  - {name: long, answers: [{pause: ask, input: wait}], expect: {status: completed, took: 20s}}
  - {name: instant, answers: [{pause: ask, input: 1, at: 5m}], expect: {status: completed}}
  - {name: lost, fakes: {load: [{interrupt: worker_lost}, {output: 1}]}, expect: {status: paused}}
  - {name: late, cancel: {at: 1s}, fakes: {load: {hang: true, late: 1s}}, expect: {status: cancelled}}
  - {name: halted, cancel: {at: 1s}, fakes: {load: {hang: true}}, expect: {status: cancelled}}
  - {name: begun, cancel: {when: load}, fakes: {load: {hang: true}}, expect: {status: cancelled}}
  - {name: admitted, permits: {wait: 1s}, expect: {status: paused}}
`, nil)
	server := temporal.Server(t)
	live := trial.New(server.Client(t), temporaltest.Logger())
	skipped := map[string]string{
		"wrong":    "it failed in virtual time",
		"long":     "it takes 20s of virtual time, and a server is waited for at most 10s",
		"instant":  "an answer is sent at an instant of the run",
		"lost":     "the fake of load loses a worker",
		"late":     "the fake of load is late",
		"halted":   "the run is cancelled at an instant",
		"begun":    "the run is cancelled at a visit that is no pause",
		"admitted": "permits are given in virtual time alone",
	}
	for _, c := range s.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			v := live.Play(t.Context(), s, c, s.Play(t.Context(), c))
			if why, known := skipped[c.Name]; known {
				require.Equal(t, tidemilltest.Skipped, v.Outcome)
				require.Contains(t, v.Reason, why)
				return
			}
			require.Equal(t, tidemilltest.Passed, v.Outcome, "%s %v", v.Reason, v.Differences)
			require.True(t, v.Server)
		})
	}
}

// A run that goes another way on the server must be told, or the comparison is for
// nothing.
func TestServerDisagrees(t *testing.T) {
	t.Parallel()
	apps := 0
	s := suite(t, "cases: [{name: all, expect: {status: paused}}]\n", func() *tidemill.App {
		apps++
		given := min(apps, 4) // loading takes one App, virtual time two, the server the fourth
		app := tidemill.NewApp()
		app.AddGraph("tried.yaml", []byte(document))
		tidemill.Action(app, "load", func(context.Context, any) (int, error) { return given / 4, nil })
		return app
	})
	live := trial.New(temporal.Server(t).Client(t), temporaltest.Logger())
	v := live.Play(t.Context(), s, s.Cases[0], s.Play(t.Context(), s.Cases[0]))
	require.Equal(t, tidemilltest.Failed, v.Outcome, v.Reason)
	require.Equal(t, []tidemilltest.Difference{
		{What: "pauses on the server", Want: "ask#1 pause  0", Got: "ask#1 pause  1"},
	}, v.Differences)
}
