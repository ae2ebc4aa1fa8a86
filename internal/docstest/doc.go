// Package docstest holds the tests that keep the documents true: each list in
// docs/ that repeats something of the code is compared with the code, each
// graph in a document is compiled, and each link is followed.
//
// A list is found by a comment in the document right above it, such as
//
//	<!-- fields: pause -->
//
// which readers do not see. The tests read the documents and the source files
// themselves, so a constant that nobody listed is found as well.
package docstest
