package graph

import "slices"

// itemPrefix begins the definitions of nodes that a map runs for each item.
const itemPrefix = "item_"

// runningTypes are the types that this version runs, those of them that are
// among some.
func runningTypes(some []NodeType) []NodeType {
	return slices.DeleteFunc(slices.Clone(some), func(t NodeType) bool { return !t.runs() })
}

// nodeShapes are the schemas of nodes: one for all, which leads to that of the
// node's type, and the same for the items of maps.
func nodeShapes() object {
	types, items := runningTypes(nodeTypes()), runningTypes(itemTypes())
	shapes := object{
		"nodes": list(refer("node")), "node": nodeShape(types, "node_"), "node_type": words(types),
		"item": nodeShape(items, itemPrefix), "item_type": words(items),
	}
	for _, t := range types {
		shapes["node_"+string(t)] = shapeOf(tableOf(t)).with(rulesOf(t)).with(object{"title": t, "description": aboutType(t)})
	}
	for _, t := range items {
		shapes[itemPrefix+string(t)] = shapeOf(itemTable(t)).with(rulesOf(t)).with(object{"title": t, "description": aboutType(t)})
	}
	return shapes
}

// nodeShape is the schema of nodes of several types. One without a type is an
// action.
func nodeShape(types []NodeType, prefix string) object {
	ways := make([]object, len(types))
	for i, t := range types {
		is := typed(t)
		if t == TypeAction {
			delete(is, "required")
		}
		ways[i] = object{"if": is, "then": refer(prefix + string(t))}
	}
	return object{"type": "object", "properties": object{"type": refer(prefix + "type")}, "allOf": ways}
}

// typed holds for nodes that are of one of the types and say so.
func typed(types ...NodeType) object {
	return object{"required": []string{"type"}, "properties": object{"type": object{"enum": types}}}
}

// rulesOf are the rules among the fields of a node of the type.
func rulesOf(t NodeType) object {
	switch t {
	case TypeAction:
		return localRule()
	case TypeJoin:
		needs := object{}
		for _, name := range ownFields(TypeJoin) {
			needs.set(name, name != "run", []string{"run"})
		}
		return localRule().with(object{"dependentRequired": needs})
	case TypePause:
		return object{
			"if":   has("on_expire"),
			"then": has("expires").with(object{"properties": object{"expires": object{"not": object{"const": None}}}}),
		}
	case TypeWait:
		return object{"oneOf": []object{has("for"), has("until")}}
	case TypeBranch, TypeDynamic:
		return object{
			"if":   has("choose"),
			"then": has("targets").with(without("cases", "default")),
			"else": has("cases").with(without("targets")),
		}
	case TypeAgent, TypeTool, TypeWorkflow, TypeSet, TypeMap, TypeLoop, TypeFork:
	}
	return nil
}

// localRule says what an action that names its mode must say besides.
func localRule() object {
	return object{"if": has("mode"), "then": has("idempotent", "timeout").with(object{"properties": object{
		"run": object{"type": "string"}, "idempotent": object{"const": true}, "timeout": object{"not": object{"type": "string", "pattern": longPattern}},
	}})}
}

// has holds for objects with the fields.
func has(fields ...string) object { return object{"required": fields} }

// without holds for objects that lack the fields.
func without(fields ...string) object {
	properties := object{}
	for _, name := range fields {
		properties[name] = false
	}
	return object{"properties": properties}
}

// aboutType says what a node of the type does.
func aboutType(t NodeType) string {
	switch t {
	case TypeAction:
		return "Runs a Go function that the worker registered, a built-in action, or an activity of any SDK."
	case TypeAgent:
		return "Asks an agent."
	case TypeTool:
		return "Uses a tool."
	case TypeWorkflow:
		return "Runs another graph and waits for it."
	case TypeSet:
		return "Sets output and state, and runs nothing."
	case TypePause:
		return "Asks a person and waits for the answer."
	case TypeWait:
		return "Waits for a time and passes its input on."
	case TypeMap:
		return "Runs one node for each item of a list."
	case TypeBranch, TypeDynamic:
		return "Passes its input on to one of its targets."
	case TypeLoop:
		return "Leads to its body while its condition holds."
	case TypeFork:
		return "Runs its branches at the same time and goes on at its join."
	case TypeJoin:
		return "Where the branches of a fork meet."
	}
	return ""
}
