package activities

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/tidemill/tidemill/graph"
)

// The reasons why a graph is not taken into a [Catalogue], beside the errors of
// its compilation, which are [graph.Diagnostics].
var (
	ErrDuplicateGraph  = errors.New("activities: two graphs of one id; rename one of them")
	ErrUnknownCallback = errors.New("activities: the graph names a callback that this worker does not have in that version")
)

// Catalogue holds the graphs a worker offers, by id. Fill it before the worker
// starts; after that it is read only and safe for concurrent use.
type Catalogue struct {
	options graph.CompileOptions
	graphs  map[string]*graph.Compiled
	from    map[string]string // where each graph came from
	linked  bool              // since the last one was added
	refused bool              // a graph was not taken, so that names of it are not at fault
}

// NewCatalogue makes an empty Catalogue whose graphs may name the callbacks of
// the registry.
func NewCatalogue(r *Registry) *Catalogue {
	return &Catalogue{
		options: graph.CompileOptions{Callbacks: r.Callbacks(), CallbacksAreErrors: true},
		graphs:  map[string]*graph.Compiled{}, from: map[string]string{},
	}
}

// AddDir adds every *.yaml, *.yml and *.json file below a directory, and reports
// all that is wrong with any of them at once.
func (c *Catalogue) AddDir(dir string) error {
	return c.addFS(os.DirFS(dir), func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) })
}

// AddFS is [Catalogue.AddDir] for a file system, such as an embedded one.
func (c *Catalogue) AddFS(fsys fs.FS) error {
	return c.addFS(fsys, func(name string) string { return name })
}

func (c *Catalogue) addFS(fsys fs.FS, shown func(string) string) error {
	var errs []error
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("activities: %s: %w", shown(name), err))
			return nil
		case entry.IsDir() || !graphFile(name):
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("activities: %s: %w", shown(name), err))
			return nil
		}
		errs = append(errs, c.AddFile(shown(name), data))
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// graphFile reports whether a file is taken for a graph. Hidden files, as editors
// leave them, are not, nor are the test cases of a graph.
func graphFile(name string) bool { return graph.IsFile(path.Base(name)) }

// AddFile compiles one document and adds it. The name stands in its diagnostics.
func (c *Catalogue) AddFile(name string, data []byte) error {
	compiled, diagnostics := graph.Compile(name, data, c.options)
	if err := diagnostics.Err(); err != nil {
		c.refused = true
		return err
	}
	return c.add(compiled, name)
}

// Add adds a graph compiled elsewhere. The callbacks it names must be the
// worker's, in the versions it was compiled with.
func (c *Catalogue) Add(compiled *graph.Compiled) error {
	var errs []error
	for _, document := range append([]*graph.Document{compiled.Document}, compiled.Document.Inline()...) {
		for _, callback := range document.Callbacks {
			if version, ok := c.options.Callbacks[callback.Name]; !ok || version != callback.Version {
				errs = append(errs, fmt.Errorf("%w: graph %q, callback %q version %d",
					ErrUnknownCallback, document.ID, callback.Name, callback.Version))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		c.refused = true
		return err
	}
	return c.add(compiled, "the program")
}

func (c *Catalogue) add(compiled *graph.Compiled, from string) error {
	id := compiled.Document.ID
	if earlier, ok := c.from[id]; ok {
		return fmt.Errorf("%w: %q is in %s and in %s", ErrDuplicateGraph, id, earlier, from)
	}
	c.graphs[id], c.from[id] = compiled, from
	c.linked = false
	return nil
}

// Link links all graphs against each other, when all have been added. What is
// wrong with the names in them is reported at once, as [graph.Diagnostics].
func (c *Catalogue) Link() error {
	if c.linked {
		return nil
	}
	ids := c.IDs()
	all := make([]*graph.Compiled, len(ids))
	for i, id := range ids {
		all[i] = c.graphs[id]
	}
	linked, found := graph.LinkAll(all)
	if c.refused {
		found = slices.DeleteFunc(found, func(d graph.Diagnostic) bool { return d.Code == graph.ErrTypeUnknownGraph })
	}
	for i, id := range ids {
		if linked[i] != nil {
			c.graphs[id] = linked[i]
		}
	}
	c.linked = !found.HasErrors()
	return found.Err()
}

// link links a graph from elsewhere against those of the catalogue.
func (c *Catalogue) link(compiled *graph.Compiled) (*graph.Compiled, graph.Diagnostics) {
	return graph.Link(compiled, func(id string) *graph.Compiled { return c.graphs[id] }, c.IDs()...)
}

// Get returns the graph of an id, linked once [Catalogue.Link] was called.
func (c *Catalogue) Get(id string) (*graph.Compiled, bool) {
	compiled, ok := c.graphs[id]
	return compiled, ok
}

// IDs lists the graphs, sorted.
func (c *Catalogue) IDs() []string { return slices.Sorted(maps.Keys(c.graphs)) }

// Warnings are what the compiler said about the graphs that were taken, by id.
func (c *Catalogue) Warnings() graph.Diagnostics {
	var all graph.Diagnostics
	for _, id := range c.IDs() {
		all = append(all, c.graphs[id].Warnings...)
	}
	return all
}

// Near lists up to three ids that look like a wrong one, the nearest first.
func (c *Catalogue) Near(id string) []string { return near(id, c.IDs()) }
