package devserver

import "syscall"

// attributes make the server a process group of its own, so that Ctrl-C reaches
// the caller first, and end it with the caller: a test that panics or is killed
// runs no clean-up.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
