package graph

import "fmt"

// RevisionWarning says that two documents of one id call themselves the same revision
// and differ; empty when they do not. A revision is its author's word, so this is no
// error: what a run is bound to is the fingerprint. But whoever reads the revision of a
// run would take the one for the other.
func RevisionWarning(known, given *Compiled) string {
	if known == nil || given == nil || given.Document.Revision == "" ||
		known.Document.ID != given.Document.ID || known.Document.Revision != given.Document.Revision ||
		known.Fingerprint == given.Fingerprint {
		return ""
	}
	return fmt.Sprintf("two documents of graph %q call themselves revision %q: %s and %s; give the changed one a revision of its own",
		given.Document.ID, given.Document.Revision, shortPrint(known.Fingerprint), shortPrint(given.Fingerprint))
}

// shortPrint is as much of a fingerprint as people compare.
func shortPrint(fingerprint string) string { return fingerprint[:min(8, len(fingerprint))] }
