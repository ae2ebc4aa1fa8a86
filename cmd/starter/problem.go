package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// problem is an error as the command line tells it.
type problem struct {
	Type        string            `json:"type"`
	Message     string            `json:"message"`
	Where       string            `json:"where"`
	Diagnostics graph.Diagnostics `json:"diagnostics,omitempty"` // of an invalid document
}

// String is the problem for people.
func (p problem) String() string {
	if len(p.Diagnostics) > 0 {
		return p.Diagnostics.Error()
	}
	if p.Where == "" {
		return fmt.Sprintf("error: %s (%s)", p.Message, p.Type)
	}
	return fmt.Sprintf("error: %s: %s (%s)", p.Where, p.Message, p.Type)
}

// The types of errors that are the command line's own.
const (
	typeUsage       = "usage"
	typeInterrupted = "interrupted"
	typeInternal    = "internal"
)

// usageError is a call that makes no sense.
type usageError struct{ message, where string }

func (e *usageError) Error() string { return e.message }

// usage is an error about what was typed at a place.
func usage(message, where string) error { return &usageError{message: message, where: where} }

// tell finds type, message and place of an error.
func tell(err error) problem {
	var wrong *usageError
	var refused *tidemill.RunError
	var exists *tidemill.AlreadyExistsError
	var diagnostics graph.Diagnostics
	switch {
	case errors.As(err, &diagnostics):
		return problem{
			Type: graph.ErrTypeInvalidDocument, Where: placeOf(diagnostics), Diagnostics: diagnostics,
			Message: fmt.Sprintf("the document has %s", count(len(diagnostics.Errors()), "error")),
		}
	case errors.As(err, &wrong):
		return problem{Type: typeUsage, Message: wrong.message, Where: wrong.where}
	case errors.As(err, &exists):
		return problem{Type: tidemill.ErrTypeAlreadyExists, Where: exists.ID, Message: fmt.Sprintf(
			"a run of this id is open (run id %s); choose another --id, or await it", exists.RunID)}
	case errors.As(err, &refused):
		where := refused.ID
		if where == "" && refused.Type == graph.ErrTypeInputSchema {
			where = "--input"
		}
		if where == "" && refused.Type == tidemill.ErrTypeUnknownDomain {
			where = "--domain"
		}
		return problem{Type: refused.Type, Message: refused.Message, Where: where}
	case errors.Is(err, context.Canceled):
		return problem{Type: typeInterrupted, Message: "interrupted; what was started goes on"}
	case strings.HasPrefix(err.Error(), "unknown command"):
		return problem{Type: typeUsage, Message: firstLine(err.Error())}
	default:
		return problem{Type: typeInternal, Message: err.Error()}
	}
}

// placeOf is file:line:column of the first error.
func placeOf(ds graph.Diagnostics) string {
	first := ds.Errors()[0]
	if first.Line == 0 {
		return first.File
	}
	return fmt.Sprintf("%s:%d:%d", first.File, first.Line, first.Column)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// count is a number with its word.
func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// The exit codes.
const (
	exitCompleted   = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPaused      = 3
	exitTimedOut    = 4
	exitCancelled   = 5
	exitUnreachable = 6
	exitInterrupted = 130 // as shells say it of a program stopped by Ctrl-C
)

// exitOf is the exit code of an error type.
func exitOf(errorType string) int {
	switch {
	case errorType == typeUsage, errorType == tidemill.ErrTypeInvalidAdmission, refusesStart(errorType):
		return exitUsage
	case errorType == tidemill.ErrTypeUnreachable:
		return exitUnreachable
	case errorType == typeInterrupted:
		return exitInterrupted
	default:
		return exitFailed
	}
}

// refusesStart reports whether an error type says that what was to be started is
// wrong in itself.
func refusesStart(errorType string) bool {
	return slices.Contains([]string{
		graph.ErrTypeInvalidDocument, graph.ErrTypeUnknownGraph, graph.ErrTypeInvalidRunOptions,
		graph.ErrTypeInputSchema, graph.ErrTypeRetryPolicy, graph.ErrTypeInvalidCheckpoint, graph.ErrTypeCheckpointWorkflow,
		graph.ErrTypeCheckpointDefinition, graph.ErrTypeCheckpointComplete,
	}, errorType)
}

// exitOfReport is the exit code of how a run stands or ended. A run that its
// first task refused, before any node ran, counts as refused here: where a
// document is known does not change the code.
func exitOfReport(r tidemill.Report) int {
	switch r.Status {
	case tidemill.StatusPaused:
		return exitPaused
	case tidemill.StatusTimedOut:
		return exitTimedOut
	case tidemill.StatusCancelled:
		return exitCancelled
	case tidemill.StatusFailed:
		if r.Steps == 0 && r.Error != nil && refusesStart(r.Error.Type) {
			return exitUsage
		}
		return exitFailed
	case tidemill.StatusCompleted, tidemill.StatusRunning:
		return exitCompleted
	default:
		return exitFailed
	}
}
