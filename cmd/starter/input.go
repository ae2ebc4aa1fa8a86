package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// input reads the value of --input: JSON, @FILE, or - for standard input. Nil
// when the flag was not given.
func (p *program) input(text string, given bool) (json.RawMessage, error) {
	if !given {
		return nil, nil
	}
	data, where := []byte(text), "--input"
	var err error
	switch {
	case text == "-":
		data, err = io.ReadAll(p.in)
		where = "standard input"
	case strings.HasPrefix(text, "@"):
		where = text[1:]
		data, err = os.ReadFile(where)
	}
	if err != nil {
		return nil, usage(fmt.Sprintf("the input cannot be read: %v", err), where)
	}
	canonical, err := value.Canonical(data)
	if err != nil {
		return nil, usage(fmt.Sprintf("the input is not JSON: %v; quote it for the shell, as in --input '{\"order\":\"7\"}'", err), where)
	}
	return canonical, nil
}

// durationFlag reads a length of time as documents write it; zero when it was
// not given, -1 for none.
func durationFlag(flag, text string) (graph.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := graph.ParseDuration(text)
	if err == nil && d == 0 {
		err = graph.ErrDurationSyntax
	}
	if err != nil {
		return 0, usage(err.Error(), flag)
	}
	return d, nil
}

// laneFlag reads app/user/session. Parts may be empty or left out at the end.
func laneFlag(text string) (tidemill.Lane, error) {
	parts := strings.Split(text, "/")
	if len(parts) > 3 {
		return tidemill.Lane{}, usage(fmt.Sprintf("the lane %q has %d parts; write app/user/session", text, len(parts)), "--lane")
	}
	parts = append(parts, "", "")
	return tidemill.Lane{App: parts[0], User: parts[1], Session: parts[2]}, nil
}

// looksLikeFile tells a file from the name of a graph.
func looksLikeFile(arg string) bool {
	if arg == "-" || strings.ContainsAny(arg, "/\\.") {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular() && !graph.ValidID(arg)
}

// document reads a file; - is standard input. The name is what diagnostics show.
func (p *program) document(path string) (name string, data []byte, err error) {
	if path == "-" {
		data, err = io.ReadAll(p.in)
		return "<stdin>", data, err
	}
	data, err = os.ReadFile(path)
	return path, data, err
}
