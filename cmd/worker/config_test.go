package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
)

// Every section of worker.yaml must reach the worker.
func TestConfig(t *testing.T) {
	t.Parallel()
	c, err := readConfig("testdata/worker.yaml")
	require.NoError(t, err)
	require.Equal(t, "orders", c.options.TaskQueue)
	require.Equal(t, []string{filepath.Join("testdata", "graphs")}, c.graphs)
	require.True(t, c.options.InlineSpecs)
	require.Equal(t, tidemill.EnvSecrets("ORDERS_TOKEN"), c.options.Secrets)
	require.Equal(t, tidemill.HTTPOptions{Hosts: []string{"orders.internal", "*.example.com"}, Private: true}, c.options.HTTP)
	require.Equal(t, tidemill.Limits{Payload: 512 << 10, State: 1 << 20}, c.options.Limits)
	require.Equal(t, "127.0.0.1:0", c.metricsListen)
	require.NotNil(t, c.options.Admission)
	require.NoError(t, c.options.Validate())
}

// A key that is ignored would look like a setting that works, so every mistake
// stops the worker, with its place.
func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"an unknown key", "tsk_queue: x", `w.yaml:1:1: error[unknown_field]: there is no key "tsk_queue" here`},
		{"an unknown key inside", "http: {host: [a.example]}", `w.yaml:1:8: error[unknown_field]: there is no key "host" here (write one of hosts, private)`},
		{"a section of a later version", "policies: {}", `w.yaml:1:1: error[unsupported_field]: "policies" arrives with a later version`},
		{"agents", "agents: ./agents", `"agents" arrives with a later version`},
		{"triggers", "triggers: ./triggers", `"triggers" arrives with a later version`},
		{"audit", "audit: {}", `"audit" arrives with a later version`},
		{"a key twice", "task_queue: a\ntask_queue: b", "w.yaml:2:1: error[duplicate_key]"},
		{"no object", "- task_queue", "w.yaml:1:1: error[expected_map]"},
		{"nothing", "", "empty_document"},
		{"no YAML", "task_queue: [", "invalid_syntax"},
		{"no text", "task_queue: 7", "w.yaml:1:13: error[expected_text]"},
		{"empty text", `task_queue: ""`, "w.yaml:1:13: error[expected_text]"},
		{"no flag", "inline_specs: 1", "w.yaml:1:15: error[expected_bool]"},
		{"an ambiguous flag", "inline_specs: yes", "w.yaml:1:15: error[ambiguous_scalar]"},
		{"no list", "http: {hosts: a.example}", "w.yaml:1:15: error[expected_list]"},
		{"no host", `http: {hosts: ["https://a.example/x"]}`, `w.yaml:1:16: error[invalid_host]: "https://a.example/x" is not a host`},
		{"other secrets", "secrets: {from: vault}", "secrets come from the environment"},
		{"no size", "limits: {payload: big}", "w.yaml:1:19: error[invalid_size]"},
		{"a size of nothing", "limits: {payload: 0}", "error[invalid_size]"},
		{"a fraction", "limits: {payload: 1.5MiB}", "error[invalid_size]"},
		{"too large a size", "limits: {state: 3MiB}", "more than a Temporal server takes (write at most 1984KiB)"},
		{"no address", `metrics: {listen: "9090"}`, `"9090" is not an address`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseConfig("w.yaml", []byte(test.text))
			require.ErrorContains(t, err, test.want)
		})
	}
}

// Mistakes in the configuration and in every graph come together, in one start.
func TestLoadTellsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	one := write("graphs/one.yaml", "version: 1\nid: one\nentry: a\nnodes: [{id: a, type: set, next: nowhere}]\n")
	two := write("graphs/deep/two.yaml", "version: 1\nid: two\nentry: a\nnodes: [{id: a, type: sat, next: end}]\n")
	path := write("worker.yaml", "graphs: ./graphs\nqueue: x\ninline_specs: 3\n")

	var errs strings.Builder
	require.Equal(t, exitUsage, run(t.Context(), []string{"--config", path}, &errs))
	for _, want := range []string{path + ":2:1: ", path + ":3:15: ", one + ":4:", two + ":4:"} {
		require.Contains(t, errs.String(), want)
	}
}

// Flags that make no sense are told before anything else.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"help", []string{"--help"}, exitStopped, "-config"},
		{"an unknown flag", []string{"--conf", "x"}, exitUsage, "not defined"},
		{"an argument", []string{"worker.yaml"}, exitUsage, "--config FILE"},
		{"a wrong level", []string{"--log-level", "loud"}, exitUsage, "loud"},
		{"no file", []string{"--config", "testdata/none.yaml"}, exitUsage, "testdata/none.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var errs strings.Builder
			require.Equal(t, test.code, run(t.Context(), test.args, &errs))
			require.Contains(t, errs.String(), test.want)
		})
	}
}

// What the manual shows must be what the worker takes.
func TestManualConfig(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/worker.md")
	require.NoError(t, err)
	seen := 0
	for i, fence := range strings.Split(string(page), "```") {
		text, isYAML := strings.CutPrefix(fence, "yaml\n")
		if i%2 == 0 || !isYAML {
			continue
		}
		seen++
		c, err := parseConfig("worker.md", []byte(text))
		require.NoError(t, err)
		require.NoError(t, c.options.Validate())
	}
	require.Equal(t, 2, seen)
}

// The example that people copy must be one that the worker takes.
func TestExampleConfig(t *testing.T) {
	t.Parallel()
	_, team, err := load("../../examples/worker.yaml")
	require.NoError(t, err)
	graphs, err := team.Graphs()
	require.NoError(t, err)
	require.Contains(t, graphs, "order-review")
}
