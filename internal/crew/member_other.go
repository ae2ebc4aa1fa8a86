//go:build !linux

package crew

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
