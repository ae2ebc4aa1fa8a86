package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph/source"
)

// config is what worker.yaml says.
type config struct {
	options       tidemill.WorkerOptions
	graphs        []string // files and directories
	metricsListen string   // host:port; empty: no metrics
}

// readConfig reads worker.yaml strictly. Everything that is wrong is reported at
// once, with positions. The config that comes with an error holds what could be
// read.
func readConfig(path string) (config, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return config{}, fmt.Errorf("worker: %w; name the configuration with --config", err)
	}
	return parseConfig(path, data)
}

// parseConfig is readConfig on text. Paths of graphs are relative to the file.
func parseConfig(path string, data []byte) (config, error) {
	var c config
	r := &reader{file: path, dir: filepath.Dir(path)}
	root, problems := source.ParseNamed(path+".yaml", data)
	for _, p := range problems {
		r.add(p.Pos, p.Code, p.Pointer, p.Message, p.Fix)
	}
	if root != nil {
		r.object(root, "", c.sections(r))
	}
	return c, r.err()
}

// sections are the keys of worker.yaml.
func (c *config) sections(r *reader) []key {
	o := &c.options
	return []key{
		{"task_queue", func(n *source.Node, at string) { o.TaskQueue = r.text(n, at) }},
		{"graphs", func(n *source.Node, at string) { c.graphs = r.paths(n, at) }},
		{"inline_specs", func(n *source.Node, at string) { o.InlineSpecs = r.flag(n, at) }},
		{"secrets", func(n *source.Node, at string) { o.Secrets = r.secrets(n, at) }},
		{"http", func(n *source.Node, at string) {
			r.object(n, at, []key{
				{"hosts", func(n *source.Node, at string) { o.HTTP.Hosts = r.hosts(n, at) }},
				{"private", func(n *source.Node, at string) { o.HTTP.Private = r.flag(n, at) }},
			})
		}},
		{"limits", func(n *source.Node, at string) {
			r.object(n, at, []key{
				{"payload", func(n *source.Node, at string) { o.Limits.Payload = r.limit(n, at) }},
				{"state", func(n *source.Node, at string) { o.Limits.State = r.limit(n, at) }},
			})
		}},
		{"metrics", func(n *source.Node, at string) {
			r.object(n, at, []key{
				{"listen", func(n *source.Node, at string) { c.metricsListen = r.address(n, at) }},
			})
		}},
		{"admission", func(n *source.Node, at string) { o.Admission = r.admission(n, at) }},
		{"policies", nil},
		{"agents", nil},
		{"triggers", nil},
		{"audit", nil},
	}
}
