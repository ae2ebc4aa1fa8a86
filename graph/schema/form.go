package schema

import "math"

// Form is a JSON Schema of the schemas that [Compile] takes, for editors. Self is
// the reference under which whoever uses the form will find it: a schema holds
// others. It passes over what only a program can judge, such as whether a
// pattern is a regular expression.
func Form(self string) map[string]any {
	properties := map[string]any{}
	for word, known := range keywords() {
		properties[word] = known.form(map[string]any{"$ref": self})
	}
	return map[string]any{"type": []any{"object", "boolean"}, "properties": properties, "additionalProperties": false}
}

func schemaForm(self map[string]any) map[string]any { return self }

func schemasForm(self map[string]any) map[string]any {
	return map[string]any{"type": "array", "minItems": 1, "items": self}
}

func propertiesForm(self map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": self}
}

func requiredForm(map[string]any) map[string]any {
	return map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"type": "string"}}
}

func typeForm(map[string]any) map[string]any {
	word := map[string]any{"enum": types()}
	list := map[string]any{"type": "array", "minItems": 1, "uniqueItems": true, "items": word}
	return map[string]any{"anyOf": []any{word, list}}
}

func enumForm(map[string]any) map[string]any {
	return map[string]any{"type": "array", "minItems": 1, "uniqueItems": true}
}

func sizeForm(map[string]any) map[string]any {
	return map[string]any{"type": "integer", "minimum": 0, "maximum": math.MaxInt32}
}

func numberForm(map[string]any) map[string]any { return map[string]any{"type": "number"} }

func textForm(map[string]any) map[string]any { return map[string]any{"type": "string"} }

func booleanForm(map[string]any) map[string]any { return map[string]any{"type": "boolean"} }

func listForm(map[string]any) map[string]any { return map[string]any{"type": "array"} }

func anyForm(map[string]any) map[string]any { return map[string]any{} }
