package firetest_test

import "syscall"

// attributes end a worker with the tests, should these be killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
