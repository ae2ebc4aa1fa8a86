package graph

import (
	"encoding/json"
	"fmt"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

// MaxKey bounds the label of a map's item, in bytes.
const MaxKey = 200

// childInput is the input of a child graph: an object. Without a program it is
// the whole state.
func (s *evaluation) childInput(p *nodePrograms) (Decision, *Failure) {
	if p.input == nil {
		raw, err := value.Marshal(s.scope.State)
		if err != nil {
			return Decision{}, Failf(ErrTypeExpressionFailed, "the state is no input: %v", err)
		}
		return Decision{Output: raw}, nil
	}
	raw, failure := p.input.eval(s.vars(p.input.uses))
	if failure != nil {
		return Decision{}, failure
	}
	if value.KindOf(raw) != value.KindObject {
		return Decision{}, Failf(ErrTypeExpressionFailed, "%s must give an object, and gave %s", p.input.place, value.KindOf(raw))
	}
	return Decision{Output: raw}, nil
}

// mapItems are the items of a map, a list, and where the map has a key the label
// of each.
func (s *evaluation) mapItems(p *nodePrograms) (Decision, *Failure) {
	if p.items == nil {
		return Decision{}, Failf(ErrTypeMapItemsInvalid, "nodes/%s is not a map", p.node.ID)
	}
	raw, failure := p.items.eval(s.vars(p.items.uses))
	if failure != nil {
		return Decision{}, failure
	}
	items, failure := ListItems(raw)
	if failure != nil {
		failure.Message = p.items.place + " " + failure.Message
		return Decision{}, failure
	}
	d := Decision{Output: raw}
	if p.key != nil {
		d.Keys, failure = s.keys(p.key, items)
	}
	return d, failure
}

// ListItems splits the list of a map into its items. The failure's type is
// [ErrTypeMapItemsInvalid].
func ListItems(raw json.RawMessage) ([]json.RawMessage, *Failure) {
	if kind := value.KindOf(raw); kind != value.KindArray {
		return nil, Failf(ErrTypeMapItemsInvalid, "must give a list, and gave %s", kind)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, Failf(ErrTypeMapItemsInvalid, "gave no list that can be read: %v", err)
	}
	if len(items) > MaxItems {
		return nil, Failf(ErrTypeMapItemsInvalid,
			"gave %d items, and a map takes at most %d: split the work over several maps or runs", len(items), MaxItems)
	}
	return items, nil
}

// keys are the labels of the items.
func (s *evaluation) keys(key *valueProgram, items []json.RawMessage) ([]string, *Failure) {
	keys := make([]string, len(items))
	vars := s.vars(key.uses)
	for i, item := range items {
		vars.Item, vars.Index = item, i
		text, failure := keyText(key, vars)
		if failure != nil {
			failure.Message += fmt.Sprintf(" for item %d", i)
			return nil, failure
		}
		keys[i] = text
	}
	return keys, nil
}

func keyText(key *valueProgram, vars *expr.Vars) (string, *Failure) {
	raw, failure := key.eval(vars)
	if failure != nil {
		return "", failure
	}
	kind := value.KindOf(raw)
	if kind != value.KindString && kind != value.KindNumber && kind != value.KindBool {
		return "", Failf(ErrTypeExpressionFailed, "%s must give text, and gave %s", key.place, kind)
	}
	text := plainText(raw)
	if len(text) > MaxKey {
		return "", Failf(ErrTypeExpressionFailed, "%s gave %d bytes, and a key has at most %d", key.place, len(text), MaxKey)
	}
	return text, nil
}
