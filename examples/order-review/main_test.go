package orderreview_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidemill/tidemill/examples/order-review/orders"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// One server and one shop serve all tests; each has a task queue and orders of
// its own.
var (
	temporal = temporaltest.NewShared(devserver.Options{})
	shop     *orders.Server
	programs builder
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "order-review-")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs.dir = dir
	if shop, err = orders.Listen("127.0.0.1:0"); err != nil {
		return fail(err)
	}
	defer func() { _ = shop.Close() }()
	return temporal.Main(m)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// builder builds programs of this module, each once: a worker that is to be
// killed must be a process of its own.
type builder struct {
	dir   string
	mu    sync.Mutex
	built map[string]error // by package
}

// build returns the path of the program whose package stands in this folder,
// relative to the example's.
func (b *builder) build(pkg string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "_")) // two packages are called worker
	if err, done := b.built[pkg]; done {
		return path, err
	}
	output, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build %s: %w: %s", pkg, err, output)
	}
	if b.built == nil {
		b.built = map[string]error{}
	}
	b.built[pkg] = err
	return path, err
}
