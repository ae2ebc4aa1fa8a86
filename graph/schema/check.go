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
	known  map[string]func(c *check, pointer string, v any)
	errors []Error
}

func (c *check) fail(pointer, reason, message, fix string) {
	c.errors = append(c.errors, Error{Pointer: pointer, Reason: reason, Message: message, Fix: fix})
}

func types() []string {
	return []string{"object", "array", "string", "number", "integer", "boolean", "null"}
}

// keywords maps each supported word to the check of its value.
func keywords() map[string]func(c *check, pointer string, v any) {
	return map[string]func(c *check, pointer string, v any){
		"type": (*check).typeWord, "enum": (*check).enum, "const": (*check).anything,
		"properties": (*check).properties, "required": (*check).required,
		"additionalProperties": (*check).schema, "items": (*check).schema,
		"allOf": (*check).schemas, "anyOf": (*check).schemas, "oneOf": (*check).schemas,
		"nullable":  (*check).boolean,
		"minLength": (*check).size, "maxLength": (*check).size, "minItems": (*check).size,
		"maxItems": (*check).size, "minProperties": (*check).size, "maxProperties": (*check).size,
		"minimum": (*check).number, "maximum": (*check).number,
		"exclusiveMinimum": (*check).number, "exclusiveMaximum": (*check).number,
		"pattern": (*check).pattern, "format": (*check).text, "title": (*check).text,
		"description": (*check).text, "$id": (*check).text, "$schema": (*check).text,
		"default": (*check).anything, "examples": (*check).list,
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
	for _, word := range slices.Sorted(maps.Keys(object)) {
		at := pointer + "/" + escape(word)
		if test, ok := c.known[word]; ok {
			test(c, at, object[word])
			continue
		}
		c.unknown(at, word)
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
