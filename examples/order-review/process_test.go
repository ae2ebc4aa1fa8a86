package orderreview_test

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a program under test.
type process struct {
	cmd    *exec.Cmd
	output *log
	ended  chan struct{} // closed when the process is gone
}

// log collects what a process prints.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// launch builds and starts a program. What is left of it is killed when the test
// ends; when the test fails, what it printed is shown.
func launch(t *testing.T, env []string, pkg string, args ...string) *process {
	t.Helper()
	path, err := programs.build(pkg)
	require.NoError(t, err)
	p := &process{cmd: exec.Command(path, args...), output: &log{}, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.SysProcAttr = env, attributes()
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%s printed:\n%s", pkg, p.output)
		}
	})
	return p
}

// end sends a signal, waits, and returns the exit code; -1 when the signal ended
// the process.
func (p *process) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(signal))
	return p.wait(t)
}

// wait returns the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-timer.C:
		require.FailNow(t, "the process does not end", p.output.String())
		return 0
	}
}
