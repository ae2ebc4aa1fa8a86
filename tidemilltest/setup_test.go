package tidemilltest_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/tidemilltest"
)

// app has graphs without Go functions, each a document without its first line.
func app(documents ...string) *tidemill.App {
	a := tidemill.NewApp()
	for i, d := range documents {
		a.AddGraph(fmt.Sprintf("graph-%d.yaml", i), []byte("version: 1\n"+d))
	}
	return a
}

// line is a graph of one action, with fields of the node.
func line(fields string) *tidemill.App {
	return app("id: line\nentry: ship\nnodes: [{id: ship, run: ship, next: end" + fields + "}]\n")
}

// simulate runs a scenario that can be run as it is told.
func simulate(t *testing.T, s tidemilltest.Scenario) *tidemilltest.Result {
	t.Helper()
	result, err := tidemilltest.Simulate(t.Context(), s)
	require.NoError(t, err)
	return result
}

// refused runs a scenario that cannot be run as it is told, and gives why.
func refused(t *testing.T, s tidemilltest.Scenario) string {
	t.Helper()
	_, err := tidemilltest.Simulate(t.Context(), s)
	require.Error(t, err)
	return err.Error()
}

// text is JSON as scenarios take it.
func text(raw string) json.RawMessage { return json.RawMessage(raw) }

// watcher is a test that may fail without failing the one it stands in.
type watcher struct {
	testing.TB

	said   []string
	failed bool
}

func (w *watcher) Helper()             {}
func (w *watcher) Logf(string, ...any) {}
func (w *watcher) Errorf(f string, a ...any) {
	w.failed = true
	w.said = append(w.said, fmt.Sprintf(f, a...))
}
func (w *watcher) FailNow()                  { w.failed = true; runtime.Goexit() }
func (w *watcher) Fatalf(f string, a ...any) { w.Errorf(f, a...); w.FailNow() }

// watch runs a test that may fail.
func watch(t *testing.T, test func(tb testing.TB)) *watcher {
	t.Helper()
	w := &watcher{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(w)
	}()
	<-done
	return w
}
