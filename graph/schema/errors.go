package schema

import "fmt"

// The reasons for which a schema is refused.
const (
	ExpectedSchema             = "expected_schema"
	UnsupportedKeyword         = "unsupported_keyword"
	UnknownType                = "unknown_type"
	InvalidType                = "invalid_type"
	InvalidTypeUnion           = "invalid_type_union"
	ExpectedMap                = "expected_map"
	ExpectedList               = "expected_list"
	InvalidRequired            = "invalid_required"
	ExpectedNonemptyList       = "expected_nonempty_list"
	DuplicateValues            = "duplicate_values"
	ExpectedBoolean            = "expected_boolean"
	ExpectedNonNegativeInteger = "expected_non_negative_integer"
	ExpectedNumber             = "expected_number"
	InvalidPattern             = "invalid_pattern"
	ExpectedString             = "expected_string"
	NotJSONSafe                = "not_json_safe"
)

// The reasons for which a value is refused.
const (
	ConstMismatch      = "const_mismatch"
	EnumMismatch       = "enum_mismatch"
	AllOfMismatch      = "all_of_mismatch"
	AnyOfMismatch      = "any_of_mismatch"
	OneOfMismatch      = "one_of_mismatch"
	ExpectedType       = "expected_type"
	ExpectedOneOfTypes = "expected_one_of_types"
	RequiredProperty   = "required_property"
	AdditionalProperty = "additional_property"
	SizeBound          = "size_bound"
	NumericBound       = "numeric_bound"
	PatternMismatch    = "pattern_mismatch"
	SchemaFalse        = "schema_false"
	InvalidJSONValue   = "invalid_json_value"
)

// Error says what is wrong with a schema.
type Error struct {
	Pointer string // JSON pointer to the fault, from the root of the schema
	Reason  string // one of the constants of this package
	Message string // what is wrong
	Fix     string // how to mend it
}

// Error gives the reason, the place and the message.
func (e Error) Error() string {
	return fmt.Sprintf("schema: %s at %q: %s; %s", e.Reason, e.Pointer, e.Message, e.Fix)
}

// Violation says in what a value does not fit its schema. It never holds the
// value itself.
type Violation struct {
	Pointer string // JSON pointer to the value that does not fit
	Reason  string // one of the constants of this package
	Message string
}

// String gives the reason, the place and the message. A violation is no Go
// error, so that a nil one cannot become an error that is not nil.
func (v *Violation) String() string {
	return fmt.Sprintf("schema: %s at %q: %s", v.Reason, v.Pointer, v.Message)
}
