package graph

import (
	"path"
	"slices"
	"strings"
)

// casesMark stands before the ending of a file with the test cases of a graph. No
// graph is called so, for an id holds no dot.
const casesMark = ".test"

// IsFile reports whether a file of this name, found in a folder, is a document.
// Hidden files, as editors leave them, are not, nor are test cases.
func IsFile(name string) bool { return readable(name) && !IsCasesFile(name) }

// IsCasesFile reports whether a file of this name holds test cases of graphs, as in
// order.test.yaml.
func IsCasesFile(name string) bool {
	return readable(name) && strings.HasSuffix(strings.TrimSuffix(name, path.Ext(name)), casesMark)
}

// readable reports whether the name ends as text that is read strictly.
func readable(name string) bool {
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// Suggest says which known word a misspelt one may have been meant to be, as in
// "did you mean order?"; empty when none is near.
func Suggest(word string, known []string) string { return didYouMean(word, known) }
