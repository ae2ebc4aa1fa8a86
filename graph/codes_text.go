package graph

import (
	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/source"
)

// readingCodes are those of the text itself, before it is a document.
func readingCodes() [][2]string {
	return [][2]string{
		{source.CodeInvalidSyntax, "The text is neither YAML nor JSON from here on."},
		{source.CodeInvalidUTF8, "The text is not valid UTF-8."},
		{source.CodeEmptyDocument, "There is nothing but space and comments."},
		{source.CodeMultipleDocuments, "The file holds a second document."},
		{source.CodeDocumentTooLarge, "The document is larger than 1 MiB."},
		{source.CodeTooDeep, "Values are nested too deeply."},
		{source.CodeDuplicateKey, "One object holds the same key twice."},
		{source.CodeInvalidMapKey, "A key is not text."},
		{source.CodeAmbiguousScalar, "Unquoted text that readers of YAML understand differently."},
		{source.CodeNonFiniteNumber, "An infinity or not-a-number."},
		{source.CodePrecisionLost, "A number that cannot be held as it is written."},
		{source.CodeUnsupportedTag, "YAML tags are not supported."},
		{source.CodeUnsupportedMerge, "YAML merge keys are not supported."},
		{source.CodeTooManyAliases, "The aliases unfold to too many values."},
		{source.CodeCyclicAlias, "An alias stands inside the value it names."},
	}
}

// textCodes are those of expressions and literal text.
func textCodes() [][2]string {
	return [][2]string{
		{expr.InvalidExpression, "The text is not an expression."},
		{expr.UnknownName, "An expression uses a name, function or field that does not exist."},
		{expr.WrongScope, "An expression uses a name that is not available in this field."},
		{expr.SecretNotAllowed, "secret() stands outside the args of an action, or its name is not literal text."},
		{codeSecretLiteral, "Literal text that looks like a secret."},
	}
}
