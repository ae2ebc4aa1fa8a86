package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/tidemilltest"
)

// One line for each case, and for what is otherwise all that is needed to mend it.
func TestTest(t *testing.T) {
	t.Parallel()
	for _, format := range []string{formatText, formatJSON} {
		r := call(t.Context(), "", "test", "testdata/cases", "--output", format)
		require.Equal(t, exitFailed, r.code)
		require.Empty(t, r.err)
		golden(t, "test."+format+".golden", r.out)
	}
}

// The exit code must tell cases that fail from files that are wrong and from nothing
// to run, or a pipeline goes on that tested nothing.
func TestTestExits(t *testing.T) {
	t.Parallel()
	const cases = "testdata/cases/greet.test.yaml"
	require.Equal(t, exitCompleted, call(t.Context(), "", "test", cases, "--run", "^greets$").code)
	require.Equal(t, exitCompleted, call(t.Context(), "", "test", "testdata/cases/greet.yaml", "--run", "^greets$").code)
	require.Equal(t, exitFailed, call(t.Context(), "", "test", cases, "--run", "greets").code)

	broken := filepath.Join(t.TempDir(), "broken.test.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("cases: [{nam: a}]"), 0o600))
	for want, args := range map[string][]string{
		"test takes at least one file or folder":   {},
		"no case is called like --run \"nobody\"":  {cases, "--run", "nobody"},
		"--run is no regular expression":           {cases, "--run", "("},
		"(did you mean name?)":                     {broken},
		"there are no test cases below the folder": {t.TempDir()},
		"write them into testdata/echo.test.yaml":  {"testdata/echo.yaml"},
		"the file cannot be read":                  {"testdata/nowhere"},
	} {
		r := call(t.Context(), "", append([]string{"test"}, args...)...)
		require.Equal(t, exitUsage, r.code, "%v", args)
		require.Contains(t, r.err, want)
	}
}

// On a server every case is run again and replayed, or skipped with a reason.
func TestTestOnServer(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	r := call(t.Context(), "", "test", "../../examples/order-approval/graphs", "--server", "--address", server.Address(),
		"--namespace", devserver.DefaultNamespace, "--output", "json")
	require.Equal(t, exitCompleted, r.code, "%s%s", r.out, r.err)
	var document tested
	require.NoError(t, json.Unmarshal([]byte(r.out), &document))
	require.True(t, document.Passed)
	ran, skipped := 0, 0
	for _, v := range document.Cases {
		switch {
		case v.Server && v.Outcome == tidemilltest.Passed:
			ran++
		case v.Server:
			require.Equal(t, tidemilltest.Skipped, v.Outcome)
			require.NotEmpty(t, v.Reason)
			skipped++
		}
	}
	require.Equal(t, 9, ran)
	require.Equal(t, 2, skipped)
}

// Without a server and without a program to start one, the way out is told.
func TestTestWithoutServer(t *testing.T) {
	t.Setenv(devserver.BinaryVariable, "")
	t.Setenv("PATH", t.TempDir())
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.yaml", []byte("version: 1\nid: a\nentry: x\nnodes: [{id: x, type: set, next: end}]\n"), 0o600))
	require.NoError(t, os.WriteFile("a.test.yaml", []byte("cases: [{name: a, expect: {status: completed}}]\n"), 0o600))
	r := call(t.Context(), "", "test", "a.yaml", "--server")
	require.Equal(t, exitUnreachable, r.code, r.out)
	require.Contains(t, r.err, "install it (https://docs.temporal.io/cli)")
	require.Equal(t, exitCompleted, call(t.Context(), "", "test", "a.yaml").code)
}
