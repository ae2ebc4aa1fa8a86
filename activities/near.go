package activities

import (
	"cmp"
	"slices"
	"strings"
)

// The bounds of what counts as near.
const (
	maxNear       = 3
	minSimilarity = 0.4
)

// near lists the known words that share many pairs of letters with word, most
// first. It finds words with a part left out or added as well as misspelt ones.
func near(word string, known []string) []string {
	type match struct {
		word  string
		score float64
	}
	var matches []match
	for _, k := range known {
		if score := similarity(word, k); score >= minSimilarity {
			matches = append(matches, match{k, score})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	var words []string
	for _, m := range matches[:min(len(matches), maxNear)] {
		words = append(words, m.word)
	}
	return words
}

// similarity is the share of letter pairs two words have in common, from 0 to 1.
// Case and the ends of a word count as they stand.
func similarity(a, b string) float64 {
	pairsA, pairsB := pairs(a), pairs(b)
	common := 0
	for _, p := range pairsA {
		if at := slices.Index(pairsB, p); at >= 0 {
			common++
			pairsB = slices.Delete(pairsB, at, at+1)
		}
	}
	return 2 * float64(common) / float64(len(pairsA)+len(pairsB)+common)
}

// pairs cuts a word into its pairs of neighbours, borders included.
func pairs(word string) []string {
	word = "^" + strings.ToLower(word) + "$"
	list := make([]string, 0, len(word))
	for i := range len(word) - 1 {
		list = append(list, word[i:i+2])
	}
	return list
}
