package docstest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/tidemilltest"
)

const testingPage = "docs/testing.md"

// The page teaches with a graph, its cases and what the command line says of them. A
// reader types them in, and must see what the page shows.
func TestTestingPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	starter := filepath.Join(dir, "starter")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", starter, "./cmd/starter")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	put := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	commands := 0
	for _, f := range read(t, testingPage).fences() {
		switch {
		case f.language == "yaml" && strings.Contains(f.text, "\nnodes:"):
			put("order.yaml", f.text)
		case f.language == "yaml":
			put("order.test.yaml", f.text)
		case f.language == "console":
			commands++
			typed, printed, _ := strings.Cut(strings.TrimPrefix(f.text, "$ starter "), "\n")
			cmd := exec.CommandContext(t.Context(), starter, strings.Fields(typed)...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, printed, string(out))
		}
	}
	require.Equal(t, 1, commands)
}

// What the page shows in Go stands in a test that runs.
func TestTestingPageInGo(t *testing.T) {
	t.Parallel()
	told := text(t, "examples/order-approval/story_test.go")
	shown := 0
	for _, f := range read(t, testingPage).fences() {
		if f.language == "go" {
			shown++
			require.Contains(t, told, strings.TrimSuffix(f.text, "\n"))
		}
	}
	require.Equal(t, 2, shown)
}

// Every field of a file of cases is on the page: the reader refuses what is not known,
// and lists no more than this in its messages.
func TestFieldsOfCases(t *testing.T) {
	t.Parallel()
	page := text(t, testingPage)
	for _, file := range []string{"tidemilltest/suite.go", "tidemilltest/suite_fakes.go", "tidemilltest/suite_expect.go"} {
		for _, part := range strings.Split(text(t, file), `field{"`)[1:] {
			name, _, _ := strings.Cut(part, `"`)
			require.Contains(t, page, name, "%s has the field %s", file, name)
		}
	}
}

// The cases of the examples must hold, all of them.
func TestCasesOfExamples(t *testing.T) {
	t.Parallel()
	count := 0
	for _, name := range files(t, ".test.yaml") {
		if strings.HasPrefix(name, "examples/") {
			count++
			tidemilltest.RunCases(t, filepath.Join(root, name), nil)
		}
	}
	require.Positive(t, count)
}
