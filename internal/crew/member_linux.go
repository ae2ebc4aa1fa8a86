package crew

import "syscall"

// attributes end a member with the program, should that be killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
