package graph

import (
	"fmt"
	"slices"

	"github.com/tidemill/tidemill/graph/source"
)

// finding is a diagnostic that has a pointer and no position yet.
type finding struct {
	severity Severity
	code     string
	at       pointer
	onKey    bool // the fault is the key itself, not its value
	offset   int  // characters into the text at the pointer; 0: its start
	message  string
	fix      string
}

// findings collects what is found while a document is compiled. Checks add to
// it in any order; diagnostics sorts by place.
type findings struct {
	found []finding
}

// fail adds an error about the value at a pointer.
func (r *findings) fail(at pointer, code, fix, format string, args ...any) {
	r.found = append(r.found, finding{
		severity: SeverityError, code: code, at: at, fix: fix, message: fmt.Sprintf(format, args...),
	})
}

// failKey adds an error about the key at a pointer.
func (r *findings) failKey(at pointer, code, fix, format string, args ...any) {
	r.fail(at, code, fix, format, args...)
	r.found[len(r.found)-1].onKey = true
}

// warn adds a warning about the value at a pointer.
func (r *findings) warn(at pointer, code, fix, format string, args ...any) {
	r.fail(at, code, fix, format, args...)
	r.found[len(r.found)-1].severity = SeverityWarning
}

// failed reports whether an error was found so far.
func (r *findings) failed() bool {
	return slices.ContainsFunc(r.found, func(f finding) bool { return f.severity == SeverityError })
}

// diagnostics gives the findings their positions and puts them in document
// order, together with the problems of the text. What is found at one place
// keeps the order in which it was found.
func (r *findings) diagnostics(file string, text []byte, root *source.Node, problems []source.Problem) Diagnostics {
	all := make(Diagnostics, 0, len(problems)+len(r.found))
	unread := map[string]bool{}
	for _, p := range problems {
		unread[p.Pointer] = true
		all = append(all, Diagnostic{
			Severity: SeverityError, Code: p.Code, File: file, Line: p.Pos.Line, Column: p.Pos.Column,
			Pointer: p.Pointer, Message: p.Message, Fix: p.Fix,
		})
	}
	lines := newLines(text)
	for _, f := range r.found {
		if f.at != "" && unread[string(f.at)] {
			continue // the text itself is at fault, which has been said
		}
		position := lines.position(f, root)
		all = append(all, Diagnostic{
			Severity: f.severity, Code: f.code, File: file, Line: position.Line, Column: position.Column,
			Pointer: string(f.at), Message: f.message, Fix: f.fix,
		})
	}
	all.sort()
	return all
}

// position is where a finding stands in the text.
func (l lines) position(f finding, root *source.Node) source.Position {
	found := f.at.find(root)
	switch {
	case f.onKey:
		return found.key
	case f.offset > 0:
		return l.inside(found.value, f.offset)
	}
	return found.value.Pos
}
