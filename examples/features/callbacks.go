package features

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidemill/tidemill"
)

// LeastBusyTeam chooses the team with the least work among those of the node's
// input, {team: work}; of equals the first by name.
func LeastBusyTeam(s tidemill.Scope) (string, error) {
	var work map[string]int
	if err := s.Input(&work); err != nil {
		return "", err
	}
	best := ""
	for _, team := range slices.Sorted(maps.Keys(work)) {
		if best == "" || work[team] < work[best] {
			best = team
		}
	}
	return best, nil
}

// TooFewWords reports whether the state has fewer words than wanted.
func TooFewWords(s tidemill.Scope) (bool, error) {
	var words []string
	var wanted int
	if _, err := s.State("words", &words); err != nil {
		return false, err
	}
	_, err := s.State("wanted", &wanted)
	return len(words) < wanted, err
}

// Sentence makes the arguments of an action of the state's words. The graph lists
// the key under reads, for nobody can see what Go code looks at.
func Sentence(s tidemill.Scope) (TextInput, error) {
	var words []string
	_, err := s.State("words", &words)
	return TextInput{Text: strings.Join(words, " ")}, err
}

// LongOrShort leads on by the length of what the node gave.
func LongOrShort(s tidemill.Scope) (string, error) {
	var text string
	if err := s.Input(&text); err != nil {
		return "", err
	}
	if len(text) > 12 {
		return "long", nil
	}
	return "short", nil
}

// Sale is the delta of an auction.
type Sale struct {
	Bid    int    `json:"bid"`
	Bidder string `json:"bidder"`
}

// HighestBid makes one delta of what the branches of an auction gave.
func HighestBid(s tidemill.Scope) (Sale, error) {
	var bids []struct {
		ID     string          `json:"id"`
		Output json.RawMessage `json:"output"`
		Delta  struct {
			Bid int `json:"bid"`
		} `json:"delta"`
	}
	if err := s.Input(&bids); err != nil {
		return Sale{}, err
	}
	var sale Sale
	for _, bid := range bids {
		if bid.Delta.Bid > sale.Bid {
			sale = Sale{Bid: bid.Delta.Bid, Bidder: bid.ID}
		}
	}
	return sale, nil
}
