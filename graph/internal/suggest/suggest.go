// Package suggest finds the known word that a misspelt one was probably meant
// to be, for the "did you mean" part of an error message.
package suggest

import "slices"

// Nearest returns the member of known closest to word, or "" when none is
// close enough to be worth suggesting. Of equally close words the first in
// byte order wins, so that the same document always gives the same message.
func Nearest(word string, known []string) string {
	limit := max(1, len([]rune(word))/3)
	best, bestDistance := "", limit+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance([]rune(word), []rune(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
