package activities

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// hidden stands where a secret's value stood.
const hidden = "***"

// minGuarded is the length from which a secret's value is looked for in outputs:
// a shorter one may well be part of other data. Messages hide every length.
const minGuarded = 8

// guard hands out the secrets of one attempt, and keeps their values out of what
// leaves it.
type guard struct {
	secrets Secrets

	mu      sync.Mutex
	values  []string       // in every form they may leave in, the longest first
	refused *graph.Failure // the first secret that was not to be had
}

// lookup is the function behind secret('NAME').
func (g *guard) lookup(name string) (string, error) {
	v, err := g.secrets.Lookup(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		if g.refused == nil {
			g.refused = graph.Failf(graph.ErrTypeSecretNotAllowed, "%v", err)
			if !errors.Is(err, ErrSecretNotAllowed) {
				g.refused.Type = graph.ErrTypeActionException
			}
		}
		return "", g.refused
	}
	g.keep(v)
	return v, nil
}

// keep remembers a value in the forms in which it may come back: as it is, in
// JSON, in a URL's query or path.
func (g *guard) keep(v string) {
	quoted := value.AppendString(nil, v)
	for _, form := range []string{v, string(quoted[1 : len(quoted)-1]), url.QueryEscape(v), url.PathEscape(v)} {
		if form != "" && !slices.Contains(g.values, form) {
			g.values = append(g.values, form)
		}
	}
	slices.SortFunc(g.values, func(a, b string) int { return len(b) - len(a) })
}

// scrub hides every secret value in a text.
func (g *guard) scrub(text string) string { return g.replace(text, 1) }

// scrubJSON hides the long secret values in canonical JSON, which stays valid:
// no value contains an unescaped quote in the form it has there.
func (g *guard) scrubJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	clean := g.replace(string(raw), minGuarded)
	if clean == string(raw) {
		return raw
	}
	canonical, err := value.Canonical([]byte(clean))
	if err != nil { // a value that also was JSON syntax: let nothing out
		return json.RawMessage(`"` + hidden + `"`)
	}
	return canonical
}

func (g *guard) replace(text string, least int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, v := range g.values {
		if len(v) >= least {
			text = strings.ReplaceAll(text, v, hidden)
		}
	}
	return text
}

// scrubEnding hides secret values in all that a failure says.
func (g *guard) scrubEnding(e *graph.Ending) {
	for f := e.Failure; f != nil; f = f.Cause {
		f.Message = g.scrub(f.Message)
		f.Details = g.scrubJSON(f.Details)
	}
}

// scrubResult hides long secret values in what an attempt commits.
func (g *guard) scrubResult(r *graph.Result) {
	r.Output = g.scrubJSON(r.Output)
	for i := range r.Delta {
		r.Delta[i].Value = g.scrubJSON(r.Delta[i].Value)
	}
	if r.Pause != nil {
		r.Pause.Summary = g.scrub(r.Pause.Summary)
		r.Pause.Show = g.scrubJSON(r.Pause.Show)
	}
}
