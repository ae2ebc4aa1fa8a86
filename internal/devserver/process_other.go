//go:build !linux

package devserver

import "syscall"

// attributes leave the server in the caller's process group, so that Ctrl-C ends
// both; there is no portable way to end it with a caller that is killed.
func attributes() *syscall.SysProcAttr { return nil }
