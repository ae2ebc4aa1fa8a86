//go:build !linux

package firetest_test

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
