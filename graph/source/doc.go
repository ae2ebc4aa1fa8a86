// Package source reads YAML and JSON documents strictly and remembers where
// everything stood.
//
// A document becomes a tree of [Node]. YAML and JSON take the same checks, so one
// document in either form gives the same tree and the same canonical JSON.
// Whatever two readers of YAML could understand differently (yes, 0123, 12:30,
// merge keys, tags, equal keys) is refused with advice, never guessed.
//
//	root, problems := source.ParseNamed("order.yaml", data)
//	for _, p := range problems {
//		fmt.Println(p) // 3:7: ambiguous_scalar at /nodes/0/on: …
//	}
//	raw, err := root.JSON()
//
// # Problems
//
// All problems come at once and in document order, up to [MaxProblems]. Only a
// syntax error or a broken limit ends the reading early. The tree beside
// problems is what could be read: it serves further checks, never a run. It is
// nil when nothing could be read.
//
// # Limits
//
// [MaxBytes], [MaxDepth] and [MaxAliasNodes] bound what a document can cost, so
// that a hostile one fails fast.
package source
