// Package value holds JSON values in one canonical form.
//
// Everything that flows through a run (state, inputs, outputs, deltas, answers)
// is a [json.RawMessage] in this form. Two values are equal exactly when their
// canonical bytes are equal, so one form serves comparison, size limits, digests
// and audit, and a replay that recomputes a value gets the same bytes.
//
//	raw, err := value.Canonical([]byte(`{"b": 1.0, "a": 1e3}`)) // {"a":1000,"b":1}
//	state, err := value.ParseObject(raw)
//	state.Set("c", value.Null())
//
// # The form
//
//   - Object keys are sorted by their UTF-8 bytes; there is no white space.
//   - Strings escape only the quote, the backslash, control characters (short
//     forms, else \u00xx) and U+2028/U+2029. All else is plain UTF-8.
//   - A number whose value is whole is written with all its digits and no
//     exponent, exactly, whatever its size: 1.0, 1e0 and 10e-1 are all 1.
//   - Any other number is the nearest float64, written as ECMAScript does.
//     A number too small for a float64, and every form of zero, is 0.
//
// # Errors
//
// Every error of this package is an [*Error]: a [Reason], a JSON pointer and a
// byte offset. Duplicate keys, invalid UTF-8 and lone surrogates are refused
// because each of them makes two readers see two different values.
package value
