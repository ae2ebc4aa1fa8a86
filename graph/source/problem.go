package source

import "fmt"

// The codes of problems. The words are stable.
const (
	CodeInvalidSyntax     = "invalid_syntax"         // neither YAML nor JSON from here on
	CodeInvalidUTF8       = "invalid_utf8"           // bytes that are not UTF-8, or a lone surrogate escape
	CodeEmptyDocument     = "empty_document"         // nothing but space and comments
	CodeMultipleDocuments = "multiple_documents"     // a second document in one file
	CodeDocumentTooLarge  = "document_too_large"     // more than MaxBytes
	CodeTooDeep           = "too_deep"               // more than MaxDepth levels of nesting
	CodeDuplicateKey      = "duplicate_key"          // one object holds the same key twice
	CodeInvalidMapKey     = "invalid_map_key"        // a key that is not text
	CodeAmbiguousScalar   = "ambiguous_scalar"       // unquoted text that readers of YAML understand differently
	CodeNonFiniteNumber   = "non_finite_number"      // an infinity or not-a-number
	CodePrecisionLost     = "number_loses_precision" // a number that a 64-bit float cannot hold as written
	CodeUnsupportedTag    = "unsupported_tag"        // a YAML tag
	CodeUnsupportedMerge  = "unsupported_merge_key"  // the YAML merge key <<
	CodeTooManyAliases    = "too_many_aliases"       // aliases that unfold to more than MaxAliasNodes
	CodeCyclicAlias       = "cyclic_alias"           // an alias inside the value it stands for
)

// Problem is one thing wrong with a document.
type Problem struct {
	Code    string
	Pos     Position
	Pointer string // JSON pointer to the value; "" is the whole document
	Message string // what is wrong
	Fix     string // how to mend it
}

// String gives all of it on one line.
func (p Problem) String() string {
	place := ""
	if p.Pointer != "" {
		place = " at " + p.Pointer
	}
	return fmt.Sprintf("%s: %s%s: %s; %s", p.Pos, p.Code, place, p.Message, p.Fix)
}
