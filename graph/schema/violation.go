package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// first finds the first violation in the library's tree of errors, in which
// the levels of a schema and of its rules take turns.
func (s *Schema) first(e *jsonschema.ValidationError) *Violation {
	keyword, isRule := s.rules[place(e)]
	switch k := e.ErrorKind.(type) {
	case *kind.FalseSchema:
		return violation(e, SchemaFalse, "no value is allowed here")
	case *kind.Group:
		return s.first(firstCause(e.Causes, keyword))
	case *kind.AdditionalProperties:
		at := slices.Clone(e.InstanceLocation)
		return &Violation{
			Pointer: pointer(append(at, slices.Min(k.Properties))),
			Reason:  AdditionalProperty, Message: "this property is not allowed",
		}
	}
	if isRule {
		return broken(e, keyword)
	}
	if len(e.Causes) == 0 {
		return violation(e, InvalidJSONValue, "the value cannot be checked")
	}
	return s.first(e.Causes[0])
}

// firstCause picks among the members or items that fail one rule. Items come
// in order; members come in the random order of a map.
func firstCause(causes []*jsonschema.ValidationError, keyword string) *jsonschema.ValidationError {
	if keyword != "additionalProperties" {
		return causes[0]
	}
	return slices.MinFunc(causes, func(a, b *jsonschema.ValidationError) int {
		return slices.Compare(a.InstanceLocation, b.InstanceLocation)
	})
}

// place gives the pointer of the failing part of the translated schema.
func place(e *jsonschema.ValidationError) string {
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	decoded, err := url.PathUnescape(fragment)
	if err != nil {
		return fragment
	}
	return decoded
}

// broken words the violation of one rule.
func broken(e *jsonschema.ValidationError, keyword string) *Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.Const:
		return violation(e, ConstMismatch, "the value is not the one that the schema fixes")
	case *kind.Enum:
		return violation(e, EnumMismatch, "the value is not one of those that the schema lists")
	case *kind.AllOf:
		return violation(e, AllOfMismatch, "the value does not fit every schema of allOf")
	case *kind.AnyOf:
		return violation(e, AnyOfMismatch, "the value fits no schema of anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return violation(e, OneOfMismatch, "the value fits more than one schema of oneOf")
		}
		return violation(e, OneOfMismatch, "the value fits no schema of oneOf")
	case *kind.Type:
		return wrongType(e, k)
	case *kind.Required:
		return violation(e, RequiredProperty, fmt.Sprintf("the required property %q is missing", k.Missing[0]))
	case *kind.Pattern:
		return violation(e, PatternMismatch, "the text does not match the pattern "+k.Want)
	}
	return bound(e, keyword)
}

func wrongType(e *jsonschema.ValidationError, k *kind.Type) *Violation {
	if len(k.Want) == 1 {
		return violation(e, ExpectedType, fmt.Sprintf("expected %s, found %s", k.Want[0], k.Got))
	}
	return violation(e, ExpectedOneOfTypes, fmt.Sprintf("expected one of %s, found %s", strings.Join(k.Want, ", "), k.Got))
}

func bound(e *jsonschema.ValidationError, keyword string) *Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.MinProperties:
		return size(e, keyword, k.Want)
	case *kind.MaxProperties:
		return size(e, keyword, k.Want)
	case *kind.MinItems:
		return size(e, keyword, k.Want)
	case *kind.MaxItems:
		return size(e, keyword, k.Want)
	case *kind.MinLength:
		return size(e, keyword, k.Want)
	case *kind.MaxLength:
		return size(e, keyword, k.Want)
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum:
		return violation(e, NumericBound, "the number is outside "+keyword)
	}
	return violation(e, InvalidJSONValue, "the value does not fit "+keyword)
}

func size(e *jsonschema.ValidationError, keyword string, want int) *Violation {
	return violation(e, SizeBound, fmt.Sprintf("the size is outside %s %d", keyword, want))
}

func violation(e *jsonschema.ValidationError, reason, message string) *Violation {
	return &Violation{Pointer: pointer(e.InstanceLocation), Reason: reason, Message: message}
}

func pointer(tokens []string) string {
	var p strings.Builder
	for _, token := range tokens {
		p.WriteString("/" + escape(token))
	}
	return p.String()
}
