package graph

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// The bounds of a map.
const (
	MaxItems           = 10_000 // of a map's list
	defaultConcurrency = 10     // of a map's items
)

// mapping reads a map: its list, its item, and how much of it may fail.
func (d *decoder) mapping(f field, node *Node, from *origin) {
	if items, ok := f.member("items"); ok {
		node.Items = d.mapItems(items)
	} else {
		d.fail(f.at.key("items"), codeMapItems, `add items: [VALUE, …] or items: "${…}"`, "the map has no items")
	}
	if key, ok := f.member("key"); ok {
		d.text(key, codeExpectedText, "key")
		node.Key = key.raw()
	}
	node.MaxConcurrency = defaultConcurrency
	if most, ok := f.member("max_concurrency"); ok {
		n, ok := d.integer(most, 1, codeExpectedPositive, "max_concurrency")
		if node.MaxConcurrency = n; ok && n > maxOpen {
			d.fail(most.at, codeExpectedPositive, "", "max_concurrency must be a whole number from 1 to %d", maxOpen)
		}
	}
	if tolerate, ok := f.member("tolerate"); ok {
		node.Tolerate = d.tolerate(tolerate)
	}
	d.attempts(f, node)
	if item, ok := f.member("item"); ok {
		node.Item, from.item = d.item(item, node.ID)
	} else {
		d.fail(f.at.key("item"), codeInvalidItem, "add item: {run: NAME}", "the map does not say what is done for an item")
	}
}

// mapItems reads a list, or text that gives one.
func (d *decoder) mapItems(f field) json.RawMessage {
	switch {
	case d.expression(f):
	case f.kind() != source.Array:
		d.fail(f.at, codeMapItems, "write [VALUE, …] or one ${…} that gives a list", "items must be a list, and this is %s", kindWord(f.kind()))
	case len(f.node.Items) == 0:
		d.warn(f.at, codeNoItems, "list the items, or remove the node", "the list is empty, so the map does nothing")
	case len(f.node.Items) > MaxItems:
		d.fail(f.at, codeMapItems, "split the work over several maps or runs", "items has %d items, and a map takes at most %d", len(f.node.Items), MaxItems)
	}
	return f.raw()
}

const tolerateFix = "write {count: N} or {percent: P}"

// tolerate reads how many items may fail. None is what a map without it
// tolerates, so it is left out.
func (d *decoder) tolerate(f field) *Tolerance {
	if !d.members(f, codeInvalidTolerance, "tolerate") {
		return nil
	}
	d.fields(f, codeInvalidTolerance, "tolerate", names(toleranceTable()))
	count, isCount := f.member("count")
	percent, isPercent := f.member("percent")
	var t Tolerance
	switch {
	case isCount && isPercent:
		d.failKey(percent.at, codeConflictingFields, "keep one of them", "count and percent are both given")
	case isCount:
		t.Count, _ = d.integer(count, 0, codeInvalidTolerance, "count")
	case isPercent:
		t.Percent = d.percent(percent)
	case len(f.node.Members) == 0:
		d.fail(f.at, codeInvalidTolerance, tolerateFix, "tolerate does not say how many items may fail")
	}
	if t == (Tolerance{}) {
		return nil
	}
	return &t
}

func (d *decoder) percent(f field) float64 {
	if f.kind() == source.Number {
		p, err := strconv.ParseFloat(string(f.raw()), 64)
		if err == nil && p >= 0 && p <= 100 && !math.IsNaN(p) {
			return p
		}
	}
	d.fail(f.at, codeInvalidTolerance, "", "percent must be a number from 0 to 100")
	return 0
}

// itemTypes are the types a map's item may have in this version.
func itemTypes() []NodeType { return []NodeType{TypeAction, TypeWorkflow, TypePause} }

// item reads the node that a map runs for each item. It is nil when nothing can
// be said about it.
func (d *decoder) item(f field, mapID string) (*Node, *origin) {
	if !d.members(f, codeInvalidItem, "an item") {
		return nil, nil
	}
	node, from := &Node{ID: ItemID(mapID), Type: d.nodeType(f)}, &origin{field: f}
	if !node.Type.runs() {
		return nil, nil
	}
	if !slices.Contains(itemTypes(), node.Type) {
		d.fail(f.at.key("type"), codeInvalidItem, "run an action, a graph or a pause; what takes more belongs into a graph of its own",
			"an item cannot be of type %s", node.Type)
		return nil, nil
	}
	d.barredInItem(f)
	d.nodeFields(f, node.Type)
	d.typeFields(f, node, from)
	d.itemRecovery(f, node)
	node.OnExpire, node.Next = "", nil
	return node, from
}

// barredInItem reports the fields that only a node with a place in the graph has.
func (d *decoder) barredInItem(f field) {
	for _, one := range notInItems() {
		if extra, ok := f.member(one.name); ok {
			d.failKey(extra.at, codeInvalidItem, one.fix, "an item has no %s", one.name)
		}
	}
}

// itemRecovery checks what becomes of an item's failure, and drops what the
// items of a map cannot do: change the state.
func (d *decoder) itemRecovery(f field, node *Node) {
	const fix = "set the state in the delta of the map, from result.items"
	if delta, ok := f.member("delta"); ok {
		d.warn(delta.at, codeItemDelta, fix, "the delta of an item is not applied")
		node.Delta = nil
	}
	way, ok := f.member("on_error")
	if !ok || node.OnError == nil {
		return
	}
	if node.OnError.Output == nil && node.OnError.Delta == nil {
		d.fail(way.at, codeInvalidOnError, "write on_error: {output: VALUE}; the item then counts as completed", "an item cannot lead anywhere")
		return
	}
	if delta, ok := way.member("delta"); ok {
		d.warn(delta.at, codeItemDelta, fix, "the delta of an item is not applied")
		node.OnError.Delta = nil
		node.OnError.Output = orNull(node.OnError.Output)
	}
}

// IsItem reports whether the node is the one that a map runs for each item.
func (n *Node) IsItem() bool { return strings.HasSuffix(n.ID, itemSuffix) }
