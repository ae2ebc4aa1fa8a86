package activities_test

import (
	"os"
	"testing"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
