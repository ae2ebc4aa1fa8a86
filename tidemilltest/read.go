package tidemilltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// The codes of what is wrong with a file of cases. They mean what the compiler means
// by them.
const (
	codeUnknownField = "unknown_field"
	codeConflicting  = "conflicting_fields"
	codeMap          = "expected_map"
	codeList         = "expected_list"
	codeText         = "expected_text"
	codeEmpty        = "empty"
	codeValue        = "invalid_value"
	codeDuplicateID  = "duplicate_id"
)

// reader reads a file of cases strictly and keeps what is wrong with it.
type reader struct {
	file  string
	found graph.Diagnostics
}

// at is a value and its place.
type at struct {
	node    *source.Node
	pointer string
}

func (a at) item(i int) at { return at{a.node.Items[i], a.pointer + "/" + strconv.Itoa(i)} }

func (r *reader) failAt(pos source.Position, pointer, code, fix, format string, args ...any) {
	r.found = append(r.found, graph.Diagnostic{
		Severity: graph.SeverityError, Code: code, File: r.file, Line: pos.Line, Column: pos.Column,
		Pointer: pointer, Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

func (r *reader) fail(a at, code, fix, format string, args ...any) {
	r.failAt(a.node.Pos, a.pointer, code, fix, format, args...)
}

// sorted is what was found, by place.
func (r *reader) sorted() graph.Diagnostics {
	slices.SortStableFunc(r.found, func(a, b graph.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.found
}

// field reads one member of an object.
type field struct {
	name string
	read func(at)
}

// object reads an object of known fields.
func (r *reader) object(a at, what string, fields ...field) {
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	r.members(a, what, func(m source.Member, value at) {
		i := slices.Index(known, m.Key)
		if i < 0 {
			r.failAt(m.KeyPos, value.pointer, codeUnknownField, graph.Suggest(m.Key, known), "%s has no field %q", what, m.Key)
			return
		}
		fields[i].read(value)
	})
}

// members reads an object of any fields, in the order written.
func (r *reader) members(a at, what string, read func(source.Member, at)) {
	if a.node.Kind != source.Object {
		r.fail(a, codeMap, "", "%s must be an object, and is %s", what, a.node.Kind)
		return
	}
	for _, m := range a.node.Members {
		read(m, at{m.Value, a.pointer + "/" + m.Key})
	}
}

// list reads a list.
func (r *reader) list(a at, what string, read func(int, at)) {
	if a.node.Kind != source.Array {
		r.fail(a, codeList, "", "%s must be a list, and is %s", what, a.node.Kind)
		return
	}
	for i := range a.node.Items {
		read(i, a.item(i))
	}
}

// texts reads a list of texts.
func (r *reader) texts(what string, into *[]string) func(at) {
	return func(a at) {
		*into = []string{}
		r.list(a, what, func(_ int, item at) {
			var text string
			r.text("an entry of "+what, &text)(item)
			*into = append(*into, text)
		})
	}
}

func (r *reader) text(what string, into *string) func(at) {
	return func(a at) {
		switch {
		case a.node.Kind != source.String:
			r.fail(a, codeText, "", "%s must be text, and is %s", what, a.node.Kind)
		case a.node.Text == "":
			r.fail(a, codeEmpty, "", "%s is empty", what)
		default:
			*into = a.node.Text
		}
	}
}

// word reads one of some words.
func (r *reader) word(what string, known []string, into func(string)) func(at) {
	return func(a at) {
		var text string
		r.text(what, &text)(a)
		switch {
		case text == "":
		case !slices.Contains(known, text):
			r.fail(a, codeValue, graph.Suggest(text, known), "%s is %q; write one of %s", what, text, list(known))
		default:
			into(text)
		}
	}
}

func (r *reader) truth(what string, into *bool) func(at) {
	return func(a at) {
		if a.node.Kind != source.Bool {
			r.fail(a, codeValue, "", "%s must be true or false", what)
			return
		}
		*into = a.node.Bool
	}
}

func (r *reader) number(what string, least int, into *int) func(at) {
	return func(a at) {
		n, err := strconv.Atoi(a.node.Text)
		if a.node.Kind != source.Number || err != nil || n < least {
			r.fail(a, codeValue, "", "%s must be a whole number from %d", what, least)
			return
		}
		*into = n
	}
}

// duration reads a length of time.
func (r *reader) duration(what string, into *time.Duration) func(at) {
	return func(a at) {
		if a.node.Kind != source.String {
			r.fail(a, codeValue, "write 30s, 5m, 12h or 7d", "%s must be a length of time", what)
			return
		}
		d, err := graph.ParseDuration(a.node.Text)
		if err != nil {
			r.fail(a, codeValue, "", "%s: %v", what, err)
			return
		}
		*into = time.Duration(d)
	}
}

// value reads any value.
func (r *reader) value(into *any) func(at) {
	return func(a at) { *into = r.json(a) }
}

func (r *reader) json(a at) json.RawMessage {
	raw, err := a.node.JSON()
	if err != nil {
		r.fail(a, codeValue, "", "this is no JSON value: %v", err)
		return json.RawMessage("null")
	}
	return raw
}

// values reads an object of any values.
func (r *reader) values(what string, into *map[string]any) func(at) {
	return func(a at) {
		*into = map[string]any{}
		r.members(a, what, func(m source.Member, v at) { (*into)[m.Key] = r.json(v) })
	}
}
