//go:build !linux

package orderreview_test

import "syscall"

// attributes are the system's own: there is no portable way to end a program
// with the tests.
func attributes() *syscall.SysProcAttr { return nil }
