package temporaltest_test

import (
	"fmt"
	"runtime"
	"testing"
)

// failing is a test whose failure is what is tested.
type failing struct {
	testing.TB

	text   string
	failed chan struct{}
}

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

func (f *failing) FailNow() { runtime.Goexit() }
