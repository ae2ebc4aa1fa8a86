package firetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/crew"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// mannedVariable makes a worker of the test binary, for a worker that is to be killed
// must be a process of its own.
const mannedVariable = "TIDEMILL_TEST_MANNED"

// manned is what a worker process is told.
type manned struct {
	Server string // host and port
	Queue  string
	Domain string
	Limits tidemill.AdmissionLimits
	Graphs []string // documents
	Gauge  string   // address of the gauge
	Mortal bool     // it dies of the first permit it is given
}

// man is a worker process. It is killed, or ends with the tests.
func man(setup string) {
	var m manned
	if err := json.Unmarshal([]byte(setup), &m); err != nil {
		panic(err)
	}
	c, err := client.Dial(client.Options{HostPort: m.Server, Logger: temporaltest.Logger()})
	if err != nil {
		panic(err)
	}
	options := m.admission()
	if m.Mortal {
		options = mortal(c, &m)
	}
	w, err := tidemill.NewWorker(context.Background(), c, m.app(), tidemill.WorkerOptions{
		TaskQueue: m.Queue, StopGrace: -1, Admission: options,
		Worker: worker.Options{StickyScheduleToStartTimeout: time.Second},
	})
	if err != nil {
		panic(err)
	}
	if err := w.Run(make(chan any)); err != nil {
		panic(err)
	}
}

// admission has every node ask for the agent of its name.
func (m *manned) admission() *tidemill.AdmissionOptions {
	return &tidemill.AdmissionOptions{
		Domains: []tidemill.AdmissionDomain{{Name: m.Domain, Limits: m.Limits}},
		Rules:   tidemill.AdmissionRules{Rules: []tidemill.AdmissionRule{{Domain: m.Domain, Agent: "${ node }"}}},
	}
}

// mortal is admission whose process dies when it has been given a permit, before its
// run can know.
func mortal(c client.Client, m *manned) *tidemill.AdmissionOptions {
	options := m.admission()
	inner, err := permits.NewCombiner(permits.CombinerOptions{
		Client: c, TaskQueue: permits.TaskQueue(m.Queue), Limits: map[string]admission.Limits{m.Domain: m.Limits},
	})
	if err != nil {
		panic(err)
	}
	return &tidemill.AdmissionOptions{Rules: options.Rules, Admitter: suicidal{inner}}
}

type suicidal struct{ tidemill.Admitter }

func (s suicidal) Submit(ctx context.Context, ask permits.Ask) (admission.Decision, error) {
	decision, err := s.Admitter.Submit(ctx, ask)
	if err == nil && decision.Answer == admission.AnswerGranted {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			panic(err)
		}
		_ = self.Kill()
		select {}
	}
	return decision, err
}

// app has the graphs and the action work, which is done, and counted, at the gauge.
func (m *manned) app() *tidemill.App {
	app := tidemill.NewApp()
	for i, document := range m.Graphs {
		app.AddGraph(fmt.Sprintf("%d.yaml", i), []byte(document))
	}
	tidemill.Action(app, "work", func(ctx context.Context, in struct {
		Agent string
		For   string
	},
	) (string, error) {
		query := url.Values{"agent": {in.Agent}, "owner": {tidemill.Info(ctx).ID}, "for": {in.For}}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.Gauge+"?"+query.Encode(), nil)
		if err != nil {
			return "", err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		return "done", response.Body.Close()
	})
	return app
}

// launch starts a worker process, which is killed when the test ends.
func (m *manned) launch(t *testing.T) *crew.Member {
	t.Helper()
	setup, err := json.Marshal(m)
	require.NoError(t, err)
	member, err := crew.Launch(mannedVariable, string(setup))
	require.NoError(t, err)
	t.Cleanup(func() {
		member.Kill()
		if t.Failed() {
			t.Logf("a worker process printed: %s", member.Output())
		}
	})
	return member
}
