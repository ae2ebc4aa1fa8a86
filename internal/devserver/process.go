package devserver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// process is a child process whose end can be waited for.
type process struct {
	cmd   *exec.Cmd
	tail  *tail
	ended chan struct{} // closed when the process is gone
}

func startProcess(binary string, args []string, log io.Writer) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), tail: &tail{also: log}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.tail, p.tail
	p.cmd.SysProcAttr = attributes()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is of no interest: it was stopped, or lastWords tell
		close(p.ended)
	}()
	return p, nil
}

// stop sends the signal, waits, and kills what is left.
func (p *process) stop(signal os.Signal, within time.Duration) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("devserver: stop: %w", err)
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("devserver: kill: %w", err)
	}
	<-p.ended
	return nil
}

// lastWords is the end of what the process printed.
func (p *process) lastWords() string { return p.tail.String() }

// tail keeps the last few kilobytes written to it, and passes all of it on.
type tail struct {
	mu   sync.Mutex
	kept []byte
	also io.Writer // nil means nowhere
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - tailBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	if t.also == nil {
		return len(p), nil
	}
	return t.also.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
