package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.uber.org/fx"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) {
	code := shared.Main(m)
	_ = os.Remove(binaryPath())
	os.Exit(code)
}

// A constructor whose needs nobody provides would only show when the worker
// starts.
func TestWiring(t *testing.T) {
	t.Parallel()
	c, team, err := load("testdata/worker.yaml")
	require.NoError(t, err)
	require.NoError(t, fx.ValidateApp(app(c, team, client.Options{}, slog.New(slog.DiscardHandler))))
}

// workerProcess is a worker that runs as a process of its own.
type workerProcess struct {
	*exec.Cmd

	lines chan map[string]any // of its log
}

// binary is the worker, built once.
var binary = sync.OnceValues(func() (string, error) {
	path := binaryPath()
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

// binaryPath differs between test processes.
func binaryPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("tidemill-worker-%d", os.Getpid()))
}

// begin starts the worker with a configuration, and a server.
func begin(t *testing.T, address, config string, env ...string) workerProcess {
	t.Helper()
	binary, err := binary()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "worker.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))

	p := workerProcess{Cmd: exec.CommandContext(t.Context(), binary, "--config", path), lines: make(chan map[string]any, 100)}
	p.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+address, "TEMPORAL_NAMESPACE="+devserver.DefaultNamespace)
	p.Env = append(p.Env, env...)
	logs, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	go func() {
		defer close(p.lines)
		for lines := bufio.NewScanner(logs); lines.Scan(); {
			line := map[string]any{"msg": lines.Text()}
			_ = json.Unmarshal(lines.Bytes(), &line)
			p.lines <- line
		}
	}()
	return p
}

// until returns the log line of a message, and fails when the log ends before.
func (p workerProcess) until(t *testing.T, message string) map[string]any {
	t.Helper()
	for line := range p.lines {
		if line["msg"] == message {
			return line
		}
	}
	require.FailNow(t, "the log ended", "before %q", message)
	return nil
}

// end waits for the process and returns its exit code.
func (p workerProcess) end(t *testing.T) int {
	t.Helper()
	for line := range p.lines {
		t.Log(line)
	}
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

// A worker must run graphs, show its metrics, and on SIGTERM end in good order.
func TestProcess(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	queue := server.TaskQueue(t)
	graphs, err := filepath.Abs("testdata/graphs")
	require.NoError(t, err)
	p := begin(t, server.Address(), "task_queue: "+queue+"\ngraphs: "+graphs+"\nmetrics: {listen: \"127.0.0.1:0\"}\n"+
		"admission: {limits: {version: 7}, domains: {batch: {}}}\n")
	metrics := p.until(t, "metrics are served")["address"].(string)
	running := p.until(t, "the worker is running")
	require.Equal(t, []any{"approval", "echo"}, running["graphs"])
	require.Equal(t, queue, running["task_queue"])
	require.Equal(t, []any{"default", "batch"}, running["admission_domains"])
	require.InDelta(t, 7, running["limits_version"], 0)

	runs := tidemill.NewClient(server.Client(t), tidemill.ClientOptions{TaskQueue: queue})
	run, err := runs.Start(t.Context(), tidemill.StartOptions{Graph: "echo", Input: map[string]int{"a": 1}})
	require.NoError(t, err)
	report, err := runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, report.Status)

	temporaltest.Wait(t, time.Minute, "the completed run in the metrics", func() bool {
		return strings.Contains(scrape(t, metrics), `temporal_workflow_completed_total{`)
	})
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.until(t, "the worker has stopped")
	require.Equal(t, exitStopped, p.end(t))
}

func scrape(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

// Whoever starts the process must see by its exit code what to do about it.
func TestProcessExitCodes(t *testing.T) {
	t.Parallel()
	p := begin(t, "127.0.0.1:1", "task_queue: x\npolicies: {}\n")
	require.Equal(t, exitUsage, p.end(t))
	p = begin(t, "127.0.0.1:1", "task_queue: x\n", "TEMPORAL_PROFILE=nobody")
	require.Equal(t, exitUsage, p.end(t))
	p = begin(t, "127.0.0.1:1", "task_queue: x\n")
	p.until(t, "the worker did not start")
	require.Equal(t, exitUnreachable, p.end(t))
}

// A worker that the server turns away for good must end the process with an
// error, or its supervisor would think it well.
func TestFatalErrorEndsTheProcess(t *testing.T) {
	t.Parallel()
	var logs strings.Builder
	logger := slog.New(slog.NewTextHandler(&logs, nil))
	stopped := false
	code := serve(t.Context(), logger, fx.Options(fx.NopLogger, fx.Invoke(func(lifecycle fx.Lifecycle, shutdown fx.Shutdowner) {
		lifecycle.Append(fx.StartStopHook(
			func() { go fatal(shutdown, logger)(errors.New("the namespace is gone")) },
			func() { stopped = true },
		))
	})))
	require.Equal(t, exitFailed, code)
	require.True(t, stopped, "what was started is stopped all the same")
	require.Contains(t, logs.String(), "the namespace is gone")
}
