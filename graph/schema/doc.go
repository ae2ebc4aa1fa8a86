// Package schema checks JSON values against the subset of JSON Schema that a
// graph document may use.
//
// The subset holds type, properties, required, additionalProperties, items,
// enum, const, allOf, anyOf, oneOf, nullable, the bounds on sizes and numbers,
// and pattern, with the meaning of draft 2020-12; length counts characters
// (code points). The words format, title, description, default, examples, $id
// and $schema are accepted and change nothing. Any other word is an error, for
// a rule that is silently not enforced is worse than none.
//
//	s, problems := schema.Compile(raw)
//	if v := s.Validate(answer); v != nil {
//		return fmt.Errorf("answer refused: %s", v.Message)
//	}
//
// # Order
//
// Validate reports one violation, and always the same: of one value const,
// enum, allOf, anyOf, oneOf, type; then of an object the required properties
// as listed, the known ones and the unknown ones by name, and its size; of an
// array its size and its items; of a text its length and its pattern; of a
// number its bounds.
//
// # Secrets
//
// Neither errors nor violations hold the value that was checked.
package schema
