package tidemill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// App is what a team brings to its workers: Go functions, and the graphs that
// name them. Fill it before the worker is made; the order does not matter.
// Mistakes are kept and all told at once by [App.Validate] and [NewWorker].
type App struct {
	registry *activities.Registry
	sources  []graphSource

	mu    sync.Mutex
	built *activities.Catalogue // of all that was added by now; nil: not built
	err   error                 // of building it
}

// graphSource adds one or more graphs to a catalogue.
type graphSource func(*activities.Catalogue) error

// NewApp makes an App without anything in it. Its workers have the built-in
// actions http and fail.
func NewApp() *App { return &App{registry: activities.NewRegistry()} }

// Action registers fn as the action name, which nodes run as `run: NAME`. In is
// decoded from the node's args; Out is any value that JSON can hold and becomes
// the node's output, or a [Result] for everything else an action can ask for.
//
// An action may be called again with the same arguments after a lost worker,
// even without a retry policy: the Key of [Info] tells a repetition.
func Action[In, Out any](a *App, name string, fn func(context.Context, In) (Out, error)) {
	a.change(func() { activities.Register(a.registry, name, fn) })
}

// Callback registers fn as the callback name, which graphs use as {call: NAME}.
// T is string for choose and route (a node id or end), bool for while, anything
// for args. The version, at least 1, is part of the fingerprint of every graph
// that names the callback: raise it when fn begins to answer differently.
func Callback[T any](a *App, name string, version int, fn func(Scope) (T, error)) {
	a.change(func() { activities.RegisterCallback(a.registry, name, version, fn) })
}

// AddGraphs adds files, and of directories every *.yaml, *.yml and *.json file
// below them.
func (a *App) AddGraphs(paths ...string) {
	for _, path := range paths {
		a.add(func(c *activities.Catalogue) error { return addPath(c, path) })
	}
}

func addPath(c *activities.Catalogue, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("tidemill: graphs: %w", err)
	}
	if info.IsDir() {
		return c.AddDir(path)
	}
	data, err := os.ReadFile(path) //nolint:gosec // the path is the program's own configuration
	if err != nil {
		return fmt.Errorf("tidemill: graphs: %w", err)
	}
	return c.AddFile(path, data)
}

// AddGraphsFS adds every *.yaml, *.yml and *.json file of a file system, such as
// an embedded one.
func (a *App) AddGraphsFS(fsys fs.FS) {
	a.add(func(c *activities.Catalogue) error { return c.AddFS(fsys) })
}

// AddGraph adds one document, YAML or JSON. The name stands in its diagnostics.
func (a *App) AddGraph(name string, data []byte) {
	a.add(func(c *activities.Catalogue) error { return c.AddFile(name, data) })
}

// AddDocument adds a graph made in Go.
func (a *App) AddDocument(d *graph.Document) {
	a.add(func(c *activities.Catalogue) error {
		compiled, diagnostics := graph.CompileDocument(d, graph.CompileOptions{
			Callbacks: a.registry.Callbacks(), CallbacksAreErrors: true,
		})
		if err := diagnostics.Err(); err != nil {
			return err
		}
		return c.Add(compiled)
	})
}

// Validate reports every mistake of registration and every error in every
// graph, joined; nil when a worker can be made. Errors in documents are
// [graph.Diagnostics], found with errors.As.
func (a *App) Validate() error {
	_, err := a.catalogue()
	return err
}

// change adds something, so that what was built is stale.
func (a *App) change(add func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	add()
	a.built, a.err = nil, nil
}

func (a *App) add(source graphSource) { a.change(func() { a.sources = append(a.sources, source) }) }

// catalogue compiles the graphs against the functions registered by now, once.
func (a *App) catalogue() (*activities.Catalogue, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.built == nil {
		a.built = activities.NewCatalogue(a.registry)
		errs := []error{a.registry.Err()}
		for _, add := range a.sources {
			errs = append(errs, add(a.built))
		}
		errs = append(errs, a.built.Link())
		a.err = errors.Join(errs...)
	}
	return a.built, a.err
}

// Warnings are what deserves a look in graphs that are valid: what the compiler
// said, and actions that no worker of this App would have. Such an action may
// be another worker's; until one has it, runs wait at its node and say so.
func (a *App) Warnings() ([]string, error) {
	c, err := a.catalogue()
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, d := range c.Warnings() {
		warnings = append(warnings, d.String())
	}
	known := map[string]bool{activities.NameHTTP: true, activities.NameFail: true}
	for _, name := range a.registry.Actions() {
		known[name] = true
	}
	for _, id := range c.IDs() {
		compiled, _ := c.Get(id)
		for _, node := range compiled.Document.AllNodes() {
			if node.Wrapped() && !known[node.Run.Name] {
				warnings = append(warnings, fmt.Sprintf(
					"graph %q, node %q: this worker has no action %q; runs wait there for one that has", id, node.ID, node.Run.Name))
			}
		}
	}
	return warnings, nil
}

// Graphs lists the ids of the App's graphs, sorted.
func (a *App) Graphs() ([]string, error) {
	c, err := a.catalogue()
	if err != nil {
		return nil, err
	}
	return c.IDs(), nil
}
