package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// translation rewrites a checked schema for the library, which stops at a
// wrong type, walks objects in random order and checks sizes first. Each
// object schema becomes an allOf with one rule an element, in the package's
// order, so that the library's first failing element is the first violation.
type translation struct{ rules map[string]string }

func (t *translation) schema(pointer string, v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	n := &rules{translation: t, pointer: pointer, source: object}
	for _, word := range []string{"const", "enum", "allOf", "anyOf", "oneOf", "type", "required"} {
		n.copy(word)
	}
	n.properties()
	for _, word := range []string{
		"minProperties", "maxProperties", "minItems", "maxItems", "items", "minLength", "maxLength",
		"pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	} {
		n.copy(word)
	}
	if len(n.out) == 0 {
		return true
	}
	return map[string]any{"allOf": n.out}
}

// rules builds the list that one object schema becomes.
type rules struct {
	*translation
	pointer string
	source  map[string]any
	out     []any
}

// next is the place of the rule that will be added next.
func (n *rules) next() string { return n.pointer + "/allOf/" + strconv.Itoa(len(n.out)) }

func (n *rules) add(word string, rule map[string]any) {
	n.rules[n.next()] = word
	n.out = append(n.out, rule)
}

// copy adds the rule of one keyword, if the schema has it.
func (n *rules) copy(word string) {
	v, ok := n.source[word]
	if !ok {
		return
	}
	at := n.next() + "/" + word
	switch word {
	case "type":
		v = n.types(v)
	case "items":
		v = n.schema(at, v)
	case "allOf", "anyOf", "oneOf":
		list, _ := v.([]any)
		translated := make([]any, len(list))
		for i, s := range list {
			translated[i] = n.schema(at+"/"+strconv.Itoa(i), s)
		}
		v = translated
	}
	n.add(word, map[string]any{word: v})
}

// types adds null to the types of a nullable schema.
func (n *rules) types(v any) any {
	if n.source["nullable"] != true {
		return v
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if slices.Contains(list, any("null")) {
		return list
	}
	return append(slices.Clone(list), "null")
}

// properties adds one rule for each known property, by name, and one for all
// that are unknown.
func (n *rules) properties() {
	known, _ := n.source["properties"].(map[string]any)
	names := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		at := n.next() + "/properties/" + escape(name)
		n.add("properties", map[string]any{"properties": map[string]any{name: n.schema(at, known[name])}})
		names[name] = true
	}
	if additional, ok := n.source["additionalProperties"]; ok {
		at := n.next() + "/additionalProperties"
		n.add("additionalProperties", map[string]any{"properties": names, "additionalProperties": n.schema(at, additional)})
	}
}

// escape writes a name as a token of a JSON pointer.
func escape(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// canonicalText spells a decoded value in one way; two numbers of canonical
// JSON are equal exactly when they are spelt alike.
func canonicalText(v any) string {
	text, err := json.Marshal(v) // sorts keys; decoded JSON always encodes
	if err != nil {
		return ""
	}
	return string(text)
}
