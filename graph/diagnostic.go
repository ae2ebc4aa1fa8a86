package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Severity tells what stops a document from what only deserves a look.
type Severity string

// The severities of a [Diagnostic].
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Diagnostic is one thing the compiler has to say about one place of a
// document: what is wrong, where, and how to mend it.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`             // stable; [Codes] lists them
	File     string   `json:"file,omitempty"`   // as given to [Compile]
	Line     int      `json:"line,omitempty"`   // from 1; 0: the document has no text
	Column   int      `json:"column,omitempty"` // from 1, in characters
	Pointer  string   `json:"pointer"`          // JSON pointer; "" is the document
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
}

// String is file:line:column: severity[code]: message (fix). A document
// without text shows the JSON pointer in place of line and column.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File + ":")
	}
	switch {
	case d.Line > 0:
		fmt.Fprintf(&b, "%d:%d: ", d.Line, d.Column)
	case d.Pointer != "":
		b.WriteString(d.Pointer + ": ")
	case d.File != "":
		b.WriteString(" ")
	}
	fmt.Fprintf(&b, "%s[%s]: %s", d.Severity, d.Code, d.Message)
	if d.Fix != "" {
		fmt.Fprintf(&b, " (%s)", d.Fix)
	}
	return b.String()
}

// Diagnostics is everything the compiler has to say about a document, errors
// and warnings, in the order of their places. It is an error value for callers
// that only want to stop: see [Diagnostics.Err].
type Diagnostics []Diagnostic //nolint:errname // a report that may hold warnings only; it is an error on request

// Error is the errors' text, one a line; the warnings' when there are no errors.
func (ds Diagnostics) Error() string {
	shown := ds.Errors()
	if len(shown) == 0 {
		shown = ds
	}
	lines := make([]string, len(shown))
	for i, d := range shown {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Err is ds as an error when it holds one, and nil when it holds warnings only.
func (ds Diagnostics) Err() error {
	if ds.HasErrors() {
		return ds
	}
	return nil
}

// HasErrors reports whether the document was refused.
func (ds Diagnostics) HasErrors() bool { return len(ds.Errors()) > 0 }

// Errors are the diagnostics that stop the document.
func (ds Diagnostics) Errors() Diagnostics { return ds.of(SeverityError) }

// Warnings are the diagnostics that do not.
func (ds Diagnostics) Warnings() Diagnostics { return ds.of(SeverityWarning) }

func (ds Diagnostics) of(severity Severity) Diagnostics {
	var some Diagnostics
	for _, d := range ds {
		if d.Severity == severity {
			some = append(some, d)
		}
	}
	return some
}

// sort puts the diagnostics of one document in document order. Those of one place
// keep the order in which they were found.
func (ds Diagnostics) sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// unplace takes the positions away, in place.
func (ds Diagnostics) unplace() {
	for i := range ds {
		ds[i].Line, ds[i].Column = 0, 0
	}
}

// MarshalJSON writes a list, also when there is nothing to say.
func (ds Diagnostics) MarshalJSON() ([]byte, error) {
	if ds == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Diagnostic(ds))
}
