package main

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// reader turns the nodes of worker.yaml into values, and collects what is wrong
// with them.
type reader struct {
	file, dir string
	found     graph.Diagnostics
}

// key is one key that an object may have. Without a read function it belongs to
// a later version.
type key struct {
	name string
	read func(n *source.Node, at string)
}

// add notes something that is wrong at a place.
func (r *reader) add(at source.Position, code, pointer, message, fix string) {
	r.found = append(r.found, graph.Diagnostic{
		Severity: graph.SeverityError, Code: code, File: r.file, Line: at.Line, Column: at.Column,
		Pointer: pointer, Message: message, Fix: fix,
	})
}

// err is what was found, in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.found, func(a, b graph.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.found.Err()
}

// object reads the members of an object, each by its key's function.
func (r *reader) object(n *source.Node, at string, keys []key) {
	if n.Kind != source.Object {
		r.add(n.Pos, "expected_map", at, "an object was needed here", "write the keys "+names(keys))
		return
	}
	for _, m := range n.Members {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == m.Key })
		pointer := at + "/" + m.Key
		switch {
		case i < 0:
			r.add(m.KeyPos, "unknown_field", pointer, fmt.Sprintf("there is no key %q here", m.Key), "write one of "+names(keys))
		case keys[i].read == nil:
			r.add(m.KeyPos, "unsupported_field", pointer, fmt.Sprintf("%q arrives with a later version", m.Key), "leave it out")
		default:
			keys[i].read(m.Value, pointer)
		}
	}
}

// names lists the keys that this version has.
func names(keys []key) string {
	var list []string
	for _, k := range keys {
		if k.read != nil {
			list = append(list, k.name)
		}
	}
	return strings.Join(list, ", ")
}

// text reads text that is not empty.
func (r *reader) text(n *source.Node, at string) string {
	if n.Kind != source.String || n.Text == "" {
		r.add(n.Pos, "expected_text", at, "text was needed here", "write a text that is not empty")
		return ""
	}
	return n.Text
}

func (r *reader) flag(n *source.Node, at string) bool {
	if n.Kind != source.Bool {
		r.add(n.Pos, "expected_bool", at, "true or false was needed here", "write true or false")
	}
	return n.Bool
}

// texts reads a list of texts, each with its place.
func (r *reader) texts(n *source.Node, at string, each func(*source.Node, string)) {
	if n.Kind != source.Array {
		r.add(n.Pos, "expected_list", at, "a list was needed here", "write [first, second]")
		return
	}
	for i, item := range n.Items {
		pointer := fmt.Sprintf("%s/%d", at, i)
		if r.text(item, pointer) != "" {
			each(item, pointer)
		}
	}
}

// paths reads one path or a list of them, relative to the file.
func (r *reader) paths(n *source.Node, at string) []string {
	var paths []string
	add := func(text string) {
		if !filepath.IsAbs(text) {
			text = filepath.Join(r.dir, text)
		}
		paths = append(paths, text)
	}
	if n.Kind == source.Array {
		r.texts(n, at, func(n *source.Node, _ string) { add(n.Text) })
	} else if text := r.text(n, at); text != "" {
		add(text)
	}
	return paths
}

// secrets reads where secrets come from, and which may be used.
func (r *reader) secrets(n *source.Node, at string) tidemill.Secrets {
	var allowed []string
	r.object(n, at, []key{
		{"from", func(n *source.Node, at string) {
			if n.Kind != source.String || n.Text != "env" {
				r.add(n.Pos, "invalid_value", at, "secrets come from the environment", "write from: env")
			}
		}},
		{"names", func(n *source.Node, at string) {
			r.texts(n, at, func(n *source.Node, _ string) { allowed = append(allowed, n.Text) })
		}},
	})
	return tidemill.EnvSecrets(allowed...)
}

// hosts reads the hosts that the action http may reach.
func (r *reader) hosts(n *source.Node, at string) []string {
	var hosts []string
	r.texts(n, at, func(n *source.Node, at string) {
		alone := tidemill.WorkerOptions{HTTP: tidemill.HTTPOptions{Hosts: []string{n.Text}}}
		if alone.Validate() != nil {
			r.add(n.Pos, "invalid_host", at, fmt.Sprintf("%q is not a host", n.Text),
				"write orders.internal, orders.internal:8443 or *.example.com")
			return
		}
		hosts = append(hosts, n.Text)
	})
	return hosts
}

// address reads host:port.
func (r *reader) address(n *source.Node, at string) string {
	text := r.text(n, at)
	if text == "" {
		return ""
	}
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		r.add(n.Pos, "invalid_value", at, fmt.Sprintf("%q is not an address", text), `write ":9090" or "127.0.0.1:9090"`)
	}
	return text
}
