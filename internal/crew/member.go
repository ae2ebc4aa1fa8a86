package crew

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Member is a process of this program. Its methods may be called from several
// goroutines.
type Member struct {
	cmd    *exec.Cmd
	output bytes.Buffer
	ended  sync.Once
}

// Launch starts this program once more, with a variable that says what it is to do. It
// ends with the program that started it, should that be killed.
func Launch(variable, setup string) (*Member, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("crew: %w", err)
	}
	m := &Member{cmd: exec.Command(binary)}
	m.cmd.Env = append(os.Environ(), variable+"="+setup)
	m.cmd.SysProcAttr = attributes()
	m.cmd.Stdout, m.cmd.Stderr = &m.output, &m.output
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("crew: %w", err)
	}
	return m, nil
}

// PID is its process id.
func (m *Member) PID() int { return m.cmd.Process.Pid }

// Kill ends the process as a power cut would, and returns when it is gone. Killing twice
// is harmless.
func (m *Member) Kill() {
	_ = m.cmd.Process.Kill()
	m.Wait()
}

// Wait returns when the process is gone.
func (m *Member) Wait() { m.ended.Do(func() { _ = m.cmd.Wait() }) }

// Output is what the process printed. It is complete once the process was killed.
func (m *Member) Output() string { return m.output.String() }
