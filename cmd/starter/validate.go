package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill/graph"
)

// checkedFile is what validate says of one file.
type checkedFile struct {
	File        string `json:"file"`
	Valid       bool   `json:"valid"`
	ID          string `json:"id,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// validation is the document that validate prints.
type validation struct {
	Valid       bool              `json:"valid"`
	Files       []checkedFile     `json:"files"`
	Diagnostics graph.Diagnostics `json:"diagnostics"`
}

func (p *program) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE…",
		Short: "Compile documents and report everything that is wrong with them",
		Long: "Compile documents and report everything that is wrong with them, with positions. - is standard input.\n" +
			"Callbacks are Go functions of a worker, so one that a document names is a warning here.\n" +
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
		checked, diagnostics := p.check(file)
		v.Files = append(v.Files, checked)
		v.Diagnostics = append(v.Diagnostics, diagnostics...)
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

// codeUnreadable is the code of a file that cannot be read at all.
const codeUnreadable = "unreadable_file"

// check compiles one file.
func (p *program) check(file string) (checkedFile, graph.Diagnostics) {
	name, data, err := p.document(file)
	if err != nil {
		return checkedFile{File: name}, graph.Diagnostics{{
			Severity: graph.SeverityError, Code: codeUnreadable, File: name,
			Message: fmt.Sprintf("the file cannot be read: %v", err),
		}}
	}
	compiled, diagnostics := graph.Compile(name, data, graph.CompileOptions{})
	if compiled == nil {
		return checkedFile{File: name}, diagnostics
	}
	return checkedFile{
		File: name, Valid: true, ID: compiled.Document.ID, Fingerprint: compiled.Fingerprint,
	}, diagnostics
}

// text is one line for each diagnostic, and a sum.
func (v validation) text(w io.Writer) {
	for _, d := range v.Diagnostics {
		_, _ = fmt.Fprintln(w, d)
	}
	for _, f := range v.Files {
		if f.Valid {
			_, _ = fmt.Fprintf(w, "%s: %s@%s is valid\n", f.File, f.ID, f.Fingerprint[:8])
		}
	}
	if len(v.Diagnostics) > 0 {
		_, _ = fmt.Fprintf(w, "%s, %s in %s\n", count(len(v.Diagnostics.Errors()), "error"),
			count(len(v.Diagnostics.Warnings()), "warning"), count(len(v.Files), "file"))
	}
}
