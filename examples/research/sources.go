package research

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemill/tidemill"
)

// Error types of the action search; the graph's retry names the first.
const (
	ErrTypeNothingFound = "nothing_found" // asking again changes nothing
	ErrTypeSourceDown   = "source_down"   // another attempt may do
)

// Finding is what a source says.
type Finding struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// Shelves are the sources: what each knows of each topic. They stand for the
// services that a real graph would call.
type Shelves struct {
	Texts map[string]map[string]string // by source and topic
	Down  map[string]bool              // sources that do not answer
}

// NewShelves makes shelves with four sources. The archive knows nothing of
// bridges.
func NewShelves() Shelves {
	return Shelves{Texts: map[string]map[string]string{
		"web":     {"tides": "Tides come twice a day.", "bridges": "Bridges cross things."},
		"archive": {"tides": "A tide mill stood here in 1170."},
		"library": {"tides": "The moon pulls, and the water follows.", "bridges": "An arch stands by its own weight."},
		"expert":  {"tides": "Ask me about resonance.", "bridges": "Mind the resonance."},
	}}
}

// SearchInput is what to look for, and where.
type SearchInput struct {
	Source string `json:"source"`
	Topic  string `json:"topic"`
}

// Search is the action search: what a source says of a topic, at least one
// finding.
func (s Shelves) Search(_ context.Context, in SearchInput) ([]Finding, error) {
	if s.Down[in.Source] {
		return nil, tidemill.NewError(ErrTypeSourceDown, "the "+in.Source+" does not answer")
	}
	text, found := s.Texts[in.Source][in.Topic]
	if !found {
		return nil, tidemill.NewError(ErrTypeNothingFound, fmt.Sprintf("the %s has nothing about %q", in.Source, in.Topic)).NotRetryable()
	}
	return []Finding{{Source: in.Source, Text: text}}, nil
}

// SummariseInput is what was found, and what is to come first.
type SummariseInput struct {
	Topic    string    `json:"topic"`
	Findings []Finding `json:"findings"`
	Lead     string    `json:"lead"`
}

// Summarise is the action summarise: a brief that begins with the lead.
func Summarise(_ context.Context, in SummariseInput) (string, error) {
	parts := []string{in.Topic + ": " + in.Lead}
	for _, finding := range in.Findings {
		if finding.Text != in.Lead {
			parts = append(parts, fmt.Sprintf("(%s) %s", finding.Source, finding.Text))
		}
	}
	return strings.Join(parts, " "), nil
}
