package graph

// list is the schema of lists that have at least one item.
func list(items object) object { return object{"type": "array", "minItems": 1, "items": items} }

// unique is the schema of lists that have no item twice.
func unique(items object) object { return list(items).with(object{"uniqueItems": true}) }

// words is the schema of a choice among words.
func words[T ~string](all []T) object { return object{"type": "string", "enum": all} }

// orText makes a schema of objects take text too, by some rule.
func (o object) orText(rule string, bound any) object {
	return o.with(object{"type": []string{"string", "object"}, rule: bound})
}

// valueShapes are the schemas of values: anything, with expressions in texts.
func valueShapes() object {
	return object{
		"value":             object{},
		"delta":             object{"type": "object"}.orText("pattern", expressionPattern).hint(expressionHint),
		"object_value":      object{"type": "object"}.orText("pattern", expressionPattern).hint(expressionHint),
		"list_value":        object{"type": []string{"array", "string"}, "pattern": expressionPattern, "maxItems": MaxItems}.hint(expressionHint),
		"condition":         nonempty(),
		"call":              shapeOf(callTable()),
		"condition_or_call": shapeOf(callTable()).orText("minLength", 1),
	}
}

// targetShapes are the schemas of what leads from node to node.
func targetShapes() object {
	onError := shapeOf(append(choiceTable(), recoveryTable()...)).orText("pattern", targetPattern).hint(targetHint)
	return object{
		"target":   object{"type": "string", "pattern": targetPattern}.hint(targetHint),
		"targets":  unique(refer("target")),
		"branches": unique(refer("id")),
		"case":     shapeOf(caseTable()),
		"cases":    unique(refer("case")),
		"edges":    object{"type": "object", "propertyNames": refer("id"), "additionalProperties": refer("edge")},
		"edge": shapeOf(edgeTable()).orText("pattern", targetPattern).hint(targetHint).with(object{
			"if": has("route"), "then": object{"maxProperties": 1}, "else": has("cases"),
		}),
		"on_error": onError.with(object{
			"if": has("cases"), "then": without(names(recoveryTable())...),
			"else": without("default").with(object{"minProperties": 1}),
		}),
		"recovery": shapeOf(recoveryTable()).with(object{"minProperties": 1}),
	}
}

// actionShapes are the schemas of what nodes run, and how.
func actionShapes() object {
	literal := object{"not": object{"type": "string", "pattern": expressionPattern + "|^" + reservedPrefix + `\.`}}
	return object{
		"run":         shapeOf(runTable()).orText("minLength", 1).with(literal),
		"retry":       shapeOf(retryTable()).with(object{"not": has("backoff", "backoff_ms")}),
		"child":       object{"if": object{"type": "object"}, "then": object{"$ref": "#"}, "else": refer("graph_id")},
		"tolerance":   shapeOf(toleranceTable()).with(object{"minProperties": 1, "maxProperties": 1}),
		"join_policy": object{"anyOf": []object{words(policyWords()), shapeOf(quorumTable())}},
		"merge":       object{"anyOf": []object{words([]MergeKind{MergeReject, MergeLastWins}), refer("call")}},
	}
}
