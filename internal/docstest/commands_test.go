package docstest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/devserver"
)

const operationsPage = "docs/operations.md"

// carrier is the action of the page's graph that does not work at first: neither for
// the first call of a run, nor for anybody else who begins anew.
type carrier struct {
	mu    sync.Mutex
	known map[string]bool
}

type order struct{ Order string }

func (c *carrier) ship(ctx context.Context, _ order) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := tidemill.Info(ctx).ID
	if !c.known[id] {
		c.known[id] = true
		return "", tidemill.NewError("carrier_down", "the carrier does not answer")
	}
	return "shipped", nil
}

// An operator copies these commands in the worst hour of the week. Each must do what
// the page says, and print it.
func TestOperationsCommands(t *testing.T) {
	t.Parallel()
	manual, dir := read(t, operationsPage), t.TempDir()
	for i, line := range manual.lines {
		name, found := strings.CutPrefix(line, "<!-- file: ")
		if !found {
			continue
		}
		for _, f := range manual.fences() {
			if f.line == i+3 { // the fence is right below
				name = strings.TrimSuffix(name, " -->")
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(f.text), 0o600))
			}
		}
	}
	address := serveOrders(t, filepath.Join(dir, "order.yaml"))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin", "starter"), "./cmd/starter")
	build.Dir = root
	built, err := build.CombinedOutput()
	require.NoError(t, err, "%s", built)
	temporalCLI, err := devserver.Binary()
	require.NoError(t, err)
	environment := append(os.Environ(), "TEMPORAL_ADDRESS="+address, "TEMPORAL_NAMESPACE="+devserver.DefaultNamespace,
		"PATH="+filepath.Join(dir, "bin")+":"+filepath.Dir(temporalCLI)+":"+os.Getenv("PATH"))
	count := 0
	for _, f := range manual.fences() {
		if f.language != "console" {
			continue
		}
		for call := range strings.SplitSeq(strings.TrimPrefix(f.text, "$ "), "\n$ ") {
			count++
			command, printed, _ := strings.Cut(call, "\n")
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Dir, cmd.Env = dir, environment
			out, _ := cmd.CombinedOutput() // a run that failed exits with 1
			require.Regexp(t, pattern(printed), string(out), "%s:%d: %s", operationsPage, f.line, command)
		}
	}
	require.Greater(t, count, 8)
}

// pattern is a page's idea of what is printed: … stands for anything, and for any
// lines where it stands alone.
func pattern(printed string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		if line == "…" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(word), "…", ".*")
		}
		b.WriteString(strings.Join(words, " +") + ` *\n`)
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// serveOrders starts a worker of the page's graph on the usual task queue.
func serveOrders(t *testing.T, file string) (address string) {
	t.Helper()
	app := tidemill.NewApp()
	for _, name := range []string{"fetch", "charge", "pack"} {
		tidemill.Action(app, name, func(_ context.Context, in order) (string, error) { return in.Order, nil })
	}
	shipping := carrier{known: map[string]bool{}}
	tidemill.Action(app, "ship", shipping.ship)
	app.AddGraphs(file)
	server := temporal.Server(t)
	worker, err := tidemill.NewWorker(t.Context(), server.Client(t), app, tidemill.WorkerOptions{InlineSpecs: true, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	t.Cleanup(worker.Stop)
	return server.Address()
}
