package tidemilltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// LoadCases reads a file of test cases and the graphs that it is about. The graphs
// come from newApp, which makes an App for each case, so that no case sees what another
// did; when it is nil they are read from files: the graph's, those that the suite
// lists, and for the children that they name those of the same folders. What is wrong
// with any of these files is [graph.Diagnostics], found with errors.As.
func LoadCases(path string, newApp func() *tidemill.App) (*Suite, error) {
	data, err := os.ReadFile(path) //nolint:gosec // reading the file is what was asked for
	if err != nil {
		return nil, fmt.Errorf("tidemilltest: %w", err)
	}
	s, found := ReadCases(path, data)
	if err := found.Err(); err != nil {
		return nil, err
	}
	file := s.graphFile()
	if newApp == nil {
		files, err := graphFiles(append([]string{file}, s.Files...), filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		newApp = func() *tidemill.App { return fromFiles(files) }
	}
	compiled, _, err := compileFile(file)
	if err != nil {
		return nil, err
	}
	for i := range s.Cases {
		s.Cases[i].Scenario.Graph = compiled.Document.ID
	}
	s.newApp = newApp
	return s, s.check()
}

// graphFile is where the graph of the suite is.
func (s *Suite) graphFile() string {
	if s.Graph != "" {
		return filepath.Join(filepath.Dir(s.File), s.Graph)
	}
	ext := filepath.Ext(s.File)
	return strings.TrimSuffix(strings.TrimSuffix(s.File, ext), ".test") + ext
}

// check looks the names of fakes up in the graphs.
func (s *Suite) check() error {
	st, err := newStage(&Scenario{App: s.newApp(), Graph: s.Cases[0].Scenario.Graph}, func() time.Duration { return 0 })
	if err != nil {
		return err
	}
	r, v := &reader{file: s.File}, st.vocabulary()
	for _, n := range s.names {
		if message, fix := v.unknown(n.kind, n.name); message != "" {
			r.failAt(n.pos, n.pointer, codeUnknownField, fix, "%s", message)
		}
	}
	return r.sorted().Err()
}

// graphText is a document as it stands in a file.
type graphText struct {
	file string
	data []byte
}

func fromFiles(files []graphText) *tidemill.App {
	app := tidemill.NewApp()
	for _, f := range files {
		app.AddGraph(f.file, f.data)
	}
	return app
}

func compileFile(file string) (*graph.Compiled, graphText, error) {
	data, err := os.ReadFile(file) //nolint:gosec // reading the file is what was asked for
	if err != nil {
		return nil, graphText{}, fmt.Errorf("tidemilltest: the graph: %w", err)
	}
	compiled, found := graph.Compile(file, data, graph.CompileOptions{})
	return compiled, graphText{file: file, data: data}, found.Err()
}

// graphFiles are the files that are named, and those beside them that have the child
// graphs they need. A file beside them that is no graph is passed over.
func graphFiles(named []string, folder string) ([]graphText, error) {
	var files []graphText
	var wanted []string
	have := map[string]bool{}
	for i, file := range named {
		if i > 0 {
			file = filepath.Join(folder, file)
		}
		compiled, text, err := compileFile(file)
		if err != nil {
			return nil, err
		}
		if have[compiled.Document.ID] {
			return nil, fmt.Errorf("tidemilltest: %s has the graph %q, which another file has too", file, compiled.Document.ID)
		}
		files, have[compiled.Document.ID] = append(files, text), true
		wanted = append(wanted, children(compiled.Document)...)
	}
	beside := map[string]*graph.Compiled{}
	texts := map[string]graphText{}
	for _, file := range neighbours(files) {
		if compiled, text, err := compileFile(file); err == nil && !have[compiled.Document.ID] {
			beside[compiled.Document.ID], texts[compiled.Document.ID] = compiled, text
		}
	}
	for len(wanted) > 0 {
		id := wanted[0]
		wanted = wanted[1:]
		if compiled := beside[id]; compiled != nil && !have[id] {
			files, have[id] = append(files, texts[id]), true
			wanted = append(wanted, children(compiled.Document)...)
		}
	}
	return files, nil
}

// children are the graphs that a document names.
func children(d *graph.Document) []string {
	var ids []string
	for _, node := range d.AllNodes() {
		if node.Workflow != nil && node.Workflow.Document == nil {
			ids = append(ids, node.Workflow.Graph)
		}
	}
	return ids
}

// neighbours are the files beside some files, without them.
func neighbours(files []graphText) []string {
	var all []string
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.file] = true
	}
	for _, f := range files {
		folder := filepath.Dir(f.file)
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // the file itself could be read
		}
		for _, entry := range entries {
			file := filepath.Join(folder, entry.Name())
			if entry.Type().IsRegular() && graph.IsFile(entry.Name()) && !seen[file] {
				seen[file] = true
				all = append(all, file)
			}
		}
	}
	return all
}
