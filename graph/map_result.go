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
	return mp.resultOf(func(*MapItem) bool { return true })
}

func (mp *Mapping) resultOf(wanted func(*MapItem) bool) json.RawMessage {
	r := mapResult{
		Items: []itemResult{}, Completed: mp.count(BranchCompleted),
		Failed: mp.count(BranchFailed), Cancelled: mp.count(BranchCancelled, BranchSkipped),
	}
	for i := range mp.Items {
		item := &mp.Items[i]
		if !wanted(item) {
			continue
		}
		one := itemResult{Status: item.Status, Output: orNull(item.Output), Error: value.Null(), Attempts: item.Attempts}
		if item.Key != "" {
			one.Key = &item.Key
		}
		if item.Failure != nil {
			one.Error = item.Failure.Value()
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
func (mp *Mapping) details() json.RawMessage {
	whole := mp.result()
	if len(whole) <= maxMapDetails {
		return whole
	}
	kept := 0
	return mp.resultOf(func(item *MapItem) bool {
		if item.Status != BranchFailed || kept == maxMapFailed {
			return false
		}
		kept++
		return true
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
