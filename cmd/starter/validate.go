package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill/graph"
)

// checkedFile is what validate says of one file.
type checkedFile struct {
	File  string `json:"file"`
	Valid bool   `json:"valid"`
	ID    string `json:"id,omitempty"`
	// Fingerprint is absent when the document names graphs that are not given.
	Fingerprint string `json:"fingerprint,omitempty"`

	compiled    *graph.Compiled
	diagnostics graph.Diagnostics
}

// validation is the document that validate prints.
type validation struct {
	Valid       bool              `json:"valid"`
	Files       []checkedFile     `json:"files"`
	Diagnostics graph.Diagnostics `json:"diagnostics"`
}

func (p *program) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE|FOLDER…",
		Short: "Compile documents and report everything that is wrong with them",
		Long: "Compile documents and report everything that is wrong with them, with positions. - is standard input.\n" +
			"Of a folder every *.yaml, *.yml and *.json file below it is taken, as a worker does.\n" +
			"Callbacks are Go functions of a worker, so one that a document names is a warning here. So is a graph that a\n" +
			"document names and that is not among the files; those that are, are checked together.\n" +
			"Exit code 2 when a document has an error.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("validate takes at least one file", "validate")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.validate(args) },
	}
}

func (p *program) validate(files []string) error {
	v := validation{Valid: true, Files: []checkedFile{}}
	for _, file := range files {
		for _, each := range below(file) {
			v.Files = append(v.Files, p.check(each))
		}
	}
	v.link()
	for _, checked := range v.Files {
		v.Diagnostics = append(v.Diagnostics, checked.diagnostics...)
		v.Valid = v.Valid && checked.Valid
	}
	if !v.Valid {
		p.code = exitUsage
	}
	if p.format == formatSARIF {
		return writeSARIF(p.out, v.Diagnostics)
	}
	return p.print(v, v.text)
}

// below lists the graph files of a folder, in order; a file, or what cannot be
// looked into, is itself. A folder without any is itself too, and not readable.
func below(name string) []string {
	var files []string
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || path == name && !entry.IsDir():
			return fs.SkipAll
		case !entry.IsDir() && graph.IsFile(entry.Name()):
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return []string{name}
	}
	return files
}

// codeUnreadable is the code of a file that cannot be read at all.
const codeUnreadable = "unreadable_file"

// check compiles one file.
func (p *program) check(file string) checkedFile {
	name, data, err := p.document(file)
	if err != nil {
		return checkedFile{File: name, diagnostics: graph.Diagnostics{{
			Severity: graph.SeverityError, Code: codeUnreadable, File: name,
			Message: fmt.Sprintf("the file cannot be read: %v", err),
		}}}
	}
	compiled, diagnostics := graph.Compile(name, data, graph.CompileOptions{})
	if compiled == nil {
		return checkedFile{File: name, diagnostics: diagnostics}
	}
	return checkedFile{File: name, Valid: true, ID: compiled.Document.ID, compiled: compiled, diagnostics: diagnostics}
}

// link checks the documents with each other. A graph that is not among them may
// be one that the worker has.
func (v *validation) link() {
	graphs := map[string]*graph.Compiled{}
	var ids []string
	for _, f := range v.Files {
		if f.compiled != nil && graphs[f.ID] == nil {
			graphs[f.ID], ids = f.compiled, append(ids, f.ID)
		}
	}
	for i := range v.Files {
		if f := &v.Files[i]; f.compiled != nil {
			linked, found := graph.Link(f.compiled, func(id string) *graph.Compiled { return graphs[id] }, ids...)
			f.add(found)
			if linked != nil {
				f.Fingerprint = linked.Fingerprint
			}
		}
	}
}

// add takes what linking found in the file; what it found in others is told of
// those.
func (f *checkedFile) add(found graph.Diagnostics) {
	for _, d := range found {
		if d.File != f.File {
			continue
		}
		if d.Code == graph.ErrTypeUnknownGraph {
			d.Severity, d.Message = graph.SeverityWarning, d.Message+" among the files"
		}
		f.Valid = f.Valid && d.Severity != graph.SeverityError
		f.diagnostics = append(f.diagnostics, d)
	}
	slices.SortStableFunc(f.diagnostics, func(a, b graph.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// text is one line for each diagnostic, and a sum.
func (v validation) text(w io.Writer) {
	for _, d := range v.Diagnostics {
		_, _ = fmt.Fprintln(w, d)
	}
	for _, f := range v.Files {
		if f.Valid {
			_, _ = fmt.Fprintln(w, f.text())
		}
	}
	if len(v.Diagnostics) > 0 {
		_, _ = fmt.Fprintf(w, "%s, %s in %s\n", count(len(v.Diagnostics.Errors()), "error"),
			count(len(v.Diagnostics.Warnings()), "warning"), count(len(v.Files), "file"))
	}
}

// text names the document, with its fingerprint if that is known.
func (f checkedFile) text() string {
	if f.Fingerprint == "" {
		return fmt.Sprintf("%s: %s is valid, apart from the graphs that it names", f.File, f.ID)
	}
	return fmt.Sprintf("%s: %s@%s is valid", f.File, f.ID, f.Fingerprint[:8])
}
