package firetest_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// patience is how long anything may take that has to happen; the machine may be busy.
const patience = 90 * time.Second

// atATime is how many tests run at a time, at least.
const atATime = 4

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) {
	if setup := os.Getenv(mannedVariable); setup != "" {
		man(setup)
	}
	flag.Parse()
	// These tests mostly wait: for leases, timeouts and backoffs.
	if err := flag.Set("test.parallel", strconv.Itoa(max(atATime, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	os.Exit(shared.Main(m))
}
