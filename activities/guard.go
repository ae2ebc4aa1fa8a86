package activities

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

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
// JSON of ours and of encoders that escape for HTML, in a URL's query, as one
// segment of its path or as several.
func (g *guard) keep(v string) {
	quoted := value.AppendString(nil, v)
	forms := []string{v, string(quoted[1 : len(quoted)-1]), url.QueryEscape(v), url.PathEscape(v), (&url.URL{Path: v}).EscapedPath()}
	if escaped, err := json.Marshal(v); err == nil {
		forms = append(forms, string(escaped[1:len(escaped)-1]))
	}
	for _, form := range forms {
		if form != "" && !slices.Contains(g.values, form) {
			g.values = append(g.values, form)
		}
	}
	slices.SortFunc(g.values, func(a, b string) int { return len(b) - len(a) })
}

// scrub hides every secret value in a message or summary. One that has been cut
// may end within a value.
func (g *guard) scrub(text string) string {
	clean := g.replace(text, 1)
	if len(text) > min(maxMessage, maxSummary)-utf8.UTFMax {
		return g.scrubEnd(clean)
	}
	return clean
}

// minBegun is the length from which the beginning of a secret's value tells
// something of it.
const minBegun = 4

// scrubEnd hides the beginning of a value at the end of a text.
func (g *guard) scrubEnd(text string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	begun := 0
	for _, v := range g.values {
		for n := min(len(v)-1, len(text)); n >= minBegun && n > begun; n-- {
			if strings.HasSuffix(text, v[:n]) {
				begun = n
			}
		}
	}
	if begun == 0 {
		return text
	}
	return text[:len(text)-begun] + hidden
}

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
		f.Type, f.Message = g.replace(f.Type, minGuarded), g.scrub(f.Message)
		f.Details = g.scrubJSON(f.Details)
	}
}

// scrubResult hides long secret values in what an attempt commits.
func (g *guard) scrubResult(r *graph.Result) {
	r.Output, r.Target = g.scrubJSON(r.Output), g.replace(r.Target, minGuarded)
	for i := range r.Delta {
		r.Delta[i].Key = g.replace(r.Delta[i].Key, minGuarded)
		r.Delta[i].Value = g.scrubJSON(r.Delta[i].Value)
	}
	r.Delta = value.NewObject(r.Delta...) // a key that changed has another place
	if r.Pause != nil {
		r.Pause.Reason, r.Pause.Summary = g.scrub(r.Pause.Reason), g.scrub(r.Pause.Summary)
		r.Pause.Show, r.Pause.ResumeSchema = g.scrubJSON(r.Pause.Show), g.scrubJSON(r.Pause.ResumeSchema)
	}
}
