package permits_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

// Whatever runs after the last test was left behind by an admitter.
func TestMain(m *testing.M) {
	code := temporal.Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
