package main

import (
	"os"
	"runtime/pprof"
)

// profile begins a processor profile of this process, unless the file is empty,
// and gives what ends it.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	out, err := os.Create(file) //nolint:gosec // the file is the caller's choice
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = out.Close()
	}, nil
}
