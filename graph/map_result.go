package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// itemResult is one item in the result of a map.
type itemResult struct {
	Key      *string         `json:"key"`
	Status   BranchStatus    `json:"status"`
	Output   json.RawMessage `json:"output"`
	Error    json.RawMessage `json:"error"`
	Attempts int             `json:"attempts"`
}

// mapResult is the result of a map.
type mapResult struct {
	Items     []itemResult `json:"items"`
	Completed int          `json:"completed"`
	Failed    int          `json:"failed"`
	Cancelled int          `json:"cancelled"` // and those never taken up
}

// result is what output and delta of the map see.
func (mp *Mapping) result() json.RawMessage {
	return mp.resultOf(func(item *MapItem) (*Failure, bool) { return item.Failure, true })
}

// resultOf is the result with the items that are wanted, and their failures as
// they are to be shown.
func (mp *Mapping) resultOf(shown func(*MapItem) (failure *Failure, wanted bool)) json.RawMessage {
	r := mapResult{
		Items: []itemResult{}, Completed: mp.count(BranchCompleted),
		Failed: mp.count(BranchFailed), Cancelled: mp.count(BranchCancelled, BranchSkipped),
	}
	for i := range mp.Items {
		item := &mp.Items[i]
		failure, wanted := shown(item)
		if !wanted {
			continue
		}
		one := itemResult{Status: item.Status, Output: orNull(item.Output), Error: value.Null(), Attempts: item.Attempts}
		if item.Key != "" {
			one.Key = &item.Key
		}
		if failure != nil {
			one.Error = failure.Value()
		}
		r.Items = append(r.Items, one)
	}
	raw, err := value.Marshal(r)
	if err != nil { // a key that is not UTF-8
		return value.Null()
	}
	return raw
}

// What the details of a failed map hold at most.
const (
	maxMapDetails = 64 << 10 // bytes; a longer result is cut to failed items
	maxMapFailed  = 100      // of these
)

// details are the result of a map that failed, for its on_error and for people.
// When it is cut, failures for which there is no room are shown in short: an item
// may have failed with the details of another map.
func (mp *Mapping) details() json.RawMessage {
	whole := mp.result()
	if len(whole) <= maxMapDetails {
		return whole
	}
	kept, room := 0, maxMapDetails
	return mp.resultOf(func(item *MapItem) (*Failure, bool) {
		if item.Status != BranchFailed || kept == maxMapFailed {
			return nil, false
		}
		kept++
		shown := item.Failure
		if shown.size() > room {
			shown = shown.bare()
		}
		room -= shown.size()
		return shown, true
	})
}

// mapOutputs is the list of the items' outputs, null where there is none.
func mapOutputs(result json.RawMessage) (json.RawMessage, *Failure) {
	var r mapResult
	err := json.Unmarshal(result, &r)
	outputs := make([]json.RawMessage, len(r.Items))
	for i := range r.Items {
		outputs[i] = orNull(r.Items[i].Output)
	}
	if err == nil {
		var raw json.RawMessage
		if raw, err = value.Marshal(outputs); err == nil {
			return raw, nil
		}
	}
	return nil, Failf(ErrTypeInvalidOutput, "the outputs of the items cannot be read: %v", err)
}
