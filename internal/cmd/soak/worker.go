package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
)

// workerVariable makes a worker of this program.
const workerVariable = "TIDEMILL_SOAK_WORKER"

// post is what a worker process is told.
type post struct {
	Server string        // host and port
	Queue  string        // of the runs
	Ledger string        // address of the ledger
	Work   time.Duration // how long a piece of work takes
}

// lease is short, so that what a lost worker held is soon free.
const lease = 3 * time.Second

// man works until the process is killed.
func man(setup string) error {
	var p post
	if err := json.Unmarshal([]byte(setup), &p); err != nil {
		return err
	}
	c, err := client.Dial(client.Options{HostPort: p.Server, Logger: quiet{}})
	if err != nil {
		return err
	}
	w, err := tidemill.NewWorker(context.Background(), c, p.app(), tidemill.WorkerOptions{
		TaskQueue: p.Queue, StopGrace: -1,
		Worker: worker.Options{StickyScheduleToStartTimeout: time.Second},
		Admission: &tidemill.AdmissionOptions{
			Limits: admission.Limits{Overflow: admission.OverflowQueue, QueueTimeout: admission.None, Lease: lease, DefaultAgent: 8},
			Rules:  tidemill.AdmissionRules{Rules: []tidemill.AdmissionRule{{When: "node.startsWith('permit_')", Agent: "${ node }"}}},
		},
	})
	if err != nil {
		return err
	}
	return w.Run(make(chan any))
}

// app has the graphs, and two actions that write themselves into the ledger.
func (p post) app() *tidemill.App {
	app := tidemill.NewApp()
	for _, k := range kinds() {
		app.AddGraph(k.id+".yaml", []byte(k.document))
	}
	tidemill.Action(app, "work", func(ctx context.Context, in struct {
		Give json.RawMessage `json:"give"`
		Fail string          `json:"fail"`
	},
	) (json.RawMessage, error) {
		if err := p.enter(ctx, false); err != nil {
			return nil, err
		}
		timer := time.NewTimer(p.Work)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if in.Fail != "" {
			return nil, tidemill.NewError(in.Fail, "as it was told")
		}
		return in.Give, nil
	})
	tidemill.Action(app, "step", func(ctx context.Context, in struct {
		Count int `json:"count"`
	},
	) (int, error) {
		return in.Count + 1, p.enter(ctx, true)
	})
	return app
}

// enter writes an execution into the ledger, which must know of it before anything of
// it is done.
func (p post) enter(ctx context.Context, local bool) error {
	info := tidemill.Info(ctx)
	body, err := json.Marshal(entry{
		Workflow: info.ID, Address: string(info.Address), Key: info.Key, Attempt: info.Attempt, Local: local, PID: os.Getpid(),
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Ledger, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("soak: the ledger answered %s", response.Status)
	}
	return nil
}

// quiet logs nothing: workers and servers are lost on purpose, and the SDK has much to
// say about that.
type quiet struct{}

// Debug logs nothing.
func (quiet) Debug(string, ...any) {}

// Info logs nothing.
func (quiet) Info(string, ...any) {}

// Warn logs nothing.
func (quiet) Warn(string, ...any) {}

// Error logs nothing.
func (quiet) Error(string, ...any) {}
