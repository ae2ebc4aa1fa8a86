package graph_test

import (
	"slices"
	"strings"
)

// set is the smallest node there is, for documents that are broken elsewhere.
const set = "{id: a, type: set, next: end}"

// header begins a document that lacks only its nodes; the next line is line 4.
const header = "id: g\nentry: a\nnodes:\n"

// one is a document of one node, which begins at 4:5.
func one(node string) string { return header + "  - " + node + "\n" }

// act is a document of one action with further fields from 5:5 on.
func act(field string) string {
	return header + "  - id: a\n    " + field + "\n    run: x\n    next: end\n"
}

// typed is a document of a node of a type and a second node b.
func typed(t, fields string) string {
	return header + "  - id: a\n    type: " + t + "\n    " + fields + "\n  - {id: b, type: set, next: end}\n"
}

// root is a document of one node with a field of its own at 1:1.
func root(field string) string { return field + "\n" + one(set) }

// broken is one smallest broken document, and every error it gives, as
// line:column pointer code.
type broken struct {
	doc  string
	want []string
}

func brokenDocuments() []broken {
	return slices.Concat(brokenTexts(), brokenRoots(), brokenActions(), brokenEdges(), brokenWaits(), brokenBranches(), brokenLoops(), brokenSizes(),
		brokenForks(), brokenTopologies(), brokenRecoveries(), brokenModes(), brokenChildren(), brokenInlines(), brokenMaps(), brokenItems())
}

// brokenSizes are the faults of documents that are too large in some way.
func brokenSizes() []broken {
	nested := strings.Repeat("[", 120) + strings.Repeat("]", 120)
	bomb := "description: x\n" + header + "  - {id: a, type: set, next: end, output: {a: &a [" + strings.Repeat("1,", 200) + "1], b: &b [" +
		strings.Repeat("*a,", 60) + "*a], c: [*b,*b,*b]}}"
	return []broken{
		{strings.Repeat("#", 1<<20+1), []string{"1:1  document_too_large"}},
		{one("{id: a, type: set, next: end, output: " + nested + "}"), []string{"4:140 /nodes/0/output" + strings.Repeat("/0", 97) + " too_deep"}},
		{bomb, []string{"5:609 /nodes/0/output/b/49/101 too_many_aliases"}},
		{typed("pause", "next: b\n    show: {text: "+strings.Repeat("x", 2048)+"}"), []string{"7:11 /nodes/0/show show_too_large"}},
	}
}
