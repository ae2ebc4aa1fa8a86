package schema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/graph/internal/suggest"
)

// check collects what is wrong with a schema.
type check struct {
	known  map[string]keyword
	errors []Error
}

func (c *check) fail(pointer, reason, message, fix string) {
	c.errors = append(c.errors, Error{Pointer: pointer, Reason: reason, Message: message, Fix: fix})
}

func types() []string {
	return []string{"object", "array", "string", "number", "integer", "boolean", "null"}
}

// keyword is what the value of a supported word must be, for the check and for
// editors.
type keyword struct {
	check func(c *check, pointer string, v any)
	form  func(self map[string]any) map[string]any // self refers to the form of a schema
}

// keywords maps each supported word to its value.
func keywords() map[string]keyword {
	one, several, size := keyword{(*check).schema, schemaForm}, keyword{(*check).schemas, schemasForm}, keyword{(*check).size, sizeForm}
	number, text, anything := keyword{(*check).number, numberForm}, keyword{(*check).text, textForm}, keyword{(*check).anything, anyForm}
	return map[string]keyword{
		"type": {(*check).typeWord, typeForm}, "enum": {(*check).enum, enumForm}, "const": anything,
		"properties": {(*check).properties, propertiesForm}, "required": {(*check).required, requiredForm},
		"additionalProperties": one, "items": one, "allOf": several, "anyOf": several, "oneOf": several,
		"nullable": {(*check).boolean, booleanForm}, "minLength": size, "maxLength": size, "minItems": size,
		"maxItems": size, "minProperties": size, "maxProperties": size, "minimum": number, "maximum": number,
		"exclusiveMinimum": number, "exclusiveMaximum": number, "pattern": {(*check).pattern, textForm},
		"format": text, "title": text, "description": text, "$id": text, "$schema": text,
		"default": anything, "examples": {(*check).list, listForm},
	}
}

func (c *check) schema(pointer string, v any) {
	if _, ok := v.(bool); ok {
		return
	}
	object, ok := v.(map[string]any)
	if !ok {
		c.fail(pointer, ExpectedSchema, "a schema is an object, true or false", "write for example {\"type\": \"string\"}")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := pointer + "/" + escape(key)
		if word, ok := c.known[key]; ok {
			word.check(c, at, object[key])
			continue
		}
		c.unknown(at, key)
	}
}

func (c *check) unknown(pointer, word string) {
	fix := "remove it; this rule is not supported"
	near := suggest.Nearest(word, slices.Collect(maps.Keys(c.known)))
	switch {
	case strings.HasSuffix(word, "ref") || strings.HasSuffix(word, "Ref") || word == "$defs" || word == "definitions":
		fix = "write the referenced schema out in its place"
	case near != "":
		fix = "did you mean " + near + "?"
	}
	c.fail(pointer, UnsupportedKeyword, strconv.Quote(word)+" is not a supported schema keyword", fix)
}

func (c *check) typeWord(pointer string, v any) {
	switch x := v.(type) {
	case string:
		c.oneType(pointer, x)
	case []any:
		c.union(pointer, x)
	default:
		c.fail(pointer, InvalidType, "type is a word or a list of words", "use "+strings.Join(types(), ", "))
	}
}

func (c *check) oneType(pointer, word string) {
	if slices.Contains(types(), word) {
		return
	}
	fix := "use " + strings.Join(types(), ", ")
	if near := suggest.Nearest(word, types()); near != "" {
		fix = "did you mean " + near + "?"
	}
	c.fail(pointer, UnknownType, strconv.Quote(word)+" is not a type", fix)
}

func (c *check) union(pointer string, list []any) {
	seen := map[string]bool{}
	for i, e := range list {
		word, ok := e.(string)
		if !ok || seen[word] {
			c.fail(pointer, InvalidTypeUnion, "a list of types names each type once", "use words such as string and null")
			return
		}
		seen[word] = true
		c.oneType(pointer+"/"+strconv.Itoa(i), word)
	}
	if len(list) == 0 {
		c.fail(pointer, InvalidTypeUnion, "a list of types may not be empty", "name at least one type, or remove type")
	}
}

func (c *check) properties(pointer string, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		c.fail(pointer, ExpectedMap, "properties is an object of schemas", "write {\"name\": {\"type\": \"string\"}}")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		c.schema(pointer+"/"+escape(name), object[name])
	}
}

func (c *check) required(pointer string, v any) {
	list, ok := v.([]any)
	seen := map[string]bool{}
	for _, e := range list {
		name, isText := e.(string)
		ok = ok && isText && !seen[name]
		seen[name] = true
	}
	if !ok {
		c.fail(pointer, InvalidRequired, "required is a list of property names, each once", "write for example [\"id\"]")
	}
}

func (c *check) schemas(pointer string, v any) {
	for i, e := range c.nonempty(pointer, v) {
		c.schema(pointer+"/"+strconv.Itoa(i), e)
	}
}

func (c *check) enum(pointer string, v any) {
	list := c.nonempty(pointer, v)
	seen := map[string]bool{}
	for i, e := range list {
		text := canonicalText(e)
		if seen[text] {
			c.fail(pointer+"/"+strconv.Itoa(i), DuplicateValues, "this value is listed twice", "remove one of the two")
		}
		seen[text] = true
	}
}

func (c *check) nonempty(pointer string, v any) []any {
	list, ok := v.([]any)
	switch {
	case !ok:
		c.fail(pointer, ExpectedList, "this keyword takes a list", "write […]")
	case len(list) == 0:
		c.fail(pointer, ExpectedNonemptyList, "the list may not be empty", "add an element, or remove the keyword")
	}
	return list
}

func (c *check) list(pointer string, v any) {
	if _, ok := v.([]any); !ok {
		c.fail(pointer, ExpectedList, "this keyword takes a list", "write […]")
	}
}

func (c *check) boolean(pointer string, v any) {
	if _, ok := v.(bool); !ok {
		c.fail(pointer, ExpectedBoolean, "this keyword is true or false", "write true or false, without quotes")
	}
}

// size accepts what fits into 31 bits, so that it means the same everywhere.
func (c *check) size(pointer string, v any) {
	n, ok := v.(json.Number)
	if _, err := strconv.ParseUint(n.String(), 10, 31); !ok || err != nil {
		c.fail(pointer, ExpectedNonNegativeInteger, "this bound is an integer from 0", "write for example 1")
	}
}

func (c *check) number(pointer string, v any) {
	if _, ok := v.(json.Number); !ok {
		c.fail(pointer, ExpectedNumber, "this bound is a number", "write it without quotes")
	}
}

func (c *check) pattern(pointer string, v any) {
	text, ok := v.(string)
	if !ok {
		c.text(pointer, v)
		return
	}
	if _, err := regexp.Compile(text); err != nil {
		c.fail(pointer, InvalidPattern, "the pattern is not a regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "),
			"use the RE2 syntax, which has no look-around and no back-references")
	}
}

func (c *check) text(pointer string, v any) {
	if _, ok := v.(string); !ok {
		c.fail(pointer, ExpectedString, "this keyword takes text", "write it in quotes")
	}
}

func (c *check) anything(string, any) {}
