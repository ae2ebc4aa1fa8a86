package graph

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/tidemill/tidemill/graph/value"
)

// EditorSchema is a JSON Schema, draft 2020-12, of the documents that [Compile]
// reads, for editors: it completes fields, shows what they mean, and marks
// what is misspelt or of the wrong kind. It is made of the tables the compiler
// decodes with, and never refuses what the compiler accepts. What hangs on
// more than one place of a document, such as whether a target exists, only the
// compiler says.
//
// The text is canonical JSON, the same for every call.
func EditorSchema() json.RawMessage {
	root := documentShape()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Tidemill graph"
	root["description"] = "A graph document of Tidemill, version 1."
	root["$defs"] = referred(root, definitions(), object{})
	raw, _ := value.Marshal(root) // texts, numbers and objects of them always have a form
	return raw
}

const definitionPrefix = "#/$defs/"

// refer is a schema that is defined elsewhere.
func refer(shape string) object { return object{"$ref": definitionPrefix + shape} }

// shapeOf is the schema of objects with the fields of a table and no others.
func shapeOf(table []fieldSpec) object {
	properties, required := object{}, []string{}
	for i := range table {
		f := &table[i]
		property := refer(f.shape)
		property["description"] = f.about
		property.set("default", f.fallback != nil, f.fallback)
		properties[f.name] = property
		if f.required {
			required = append(required, f.name)
		}
	}
	shape := object{"type": "object", "properties": properties, "additionalProperties": false}
	shape.set("required", len(required) > 0, required)
	return shape
}

// with adds rules to a schema.
func (o object) with(rules object) object {
	maps.Copy(o, rules)
	return o
}

// hint is what an editor says of text that a pattern refuses. The word is no part
// of JSON Schema; editors know it, and others pass over it.
func (o object) hint(text string) object { return o.with(object{"patternErrorMessage": text}) }

// documentShape is the schema of a whole document. Without edges each node that
// leaves by one has it under next.
func documentShape() object {
	var others []NodeType
	for _, t := range nodeTypes() {
		if t.runs() && !t.EdgeBearing() {
			others = append(others, t)
		}
	}
	leaving := object{"if": typed(others...), "else": object{"required": []string{"next"}}}
	return shapeOf(documentTable()).with(object{
		"if":   object{"required": []string{"edges"}},
		"else": object{"properties": object{"nodes": object{"items": leaving}}},
	})
}

// definitions are the schemas that the others refer to.
func definitions() object {
	all := object{}
	for _, group := range []object{
		wordShapes(), numberShapes(), timeShapes(), valueShapes(), targetShapes(), actionShapes(), nodeShapes(),
	} {
		maps.Copy(all, group)
	}
	return all
}

// referred are the definitions that a schema refers to, directly or through
// others: those of what this version does not run are left out.
func referred(from any, all, into object) object {
	switch v := from.(type) {
	case object:
		for name, part := range v {
			word, _ := part.(string)
			shape, refers := strings.CutPrefix(word, definitionPrefix)
			if name != "$ref" || !refers {
				referred(part, all, into)
			} else if _, known := into[shape]; !known {
				into[shape] = all[shape]
				referred(all[shape], all, into)
			}
		}
	case []object:
		for _, part := range v {
			referred(part, all, into)
		}
	}
	return into
}
