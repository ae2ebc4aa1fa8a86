package firetest_test

import (
	"os"
	"testing"
	"time"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// patience is how long anything may take that has to happen; the machine may be busy.
const patience = 90 * time.Second

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) {
	if setup := os.Getenv(mannedVariable); setup != "" {
		man(setup)
	}
	os.Exit(shared.Main(m))
}
