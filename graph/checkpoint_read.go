package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// ParseCheckpoint reads a checkpoint strictly enough that Restore can trust
// its shape. The failure's type is [ErrTypeInvalidCheckpoint].
func ParseCheckpoint(raw json.RawMessage) (Checkpoint, *Failure) {
	var cp Checkpoint
	err := json.Unmarshal(raw, &cp)
	if err == nil {
		err = recanonicalize(cp.values()...)
	}
	if err != nil {
		return Checkpoint{}, Failf(ErrTypeInvalidCheckpoint, "not a checkpoint: %v", err)
	}
	return cp, nil
}

// values are the values that a checkpoint holds as JSON text, besides its state.
func (cp *Checkpoint) values() []*json.RawMessage {
	all := []*json.RawMessage{&cp.Output}
	failure := func(f *Failure) {
		for ; f != nil; f = f.Cause {
			all = append(all, &f.Details)
		}
	}
	for _, o := range []*Outcome{cp.Stopping, cp.Outcome} {
		if o != nil {
			all = append(all, &o.Output)
			failure(o.Failure)
		}
	}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		all = append(all, &a.Input, &a.Output, &a.Args, &a.Returned)
		failure(a.Failure)
		items := func(mp *Mapping) {
			for j := range mp.len() {
				item := &mp.Items[j]
				all = append(all, &item.Value, &item.Output)
				failure(item.Failure)
			}
		}
		items(a.Mapping)
		for j := range a.Branches {
			all = append(all, &a.Branches[j].Output)
			failure(a.Branches[j].Failure)
			items(a.Branches[j].Mapping)
		}
		if a.Result != nil {
			all = append(all, &a.Result.Output)
			if p := a.Result.Pause; p != nil {
				all = append(all, &p.Show, &p.ResumeSchema)
			}
		}
		if a.Pause != nil {
			all = append(all, &a.Pause.Show, &a.Pause.ResumeSchema)
		}
		for j := range a.Offered {
			all = append(all, &a.Offered[j].Input)
		}
		if a.Answer != nil {
			all = append(all, &a.Answer.Input)
		}
	}
	for i := range cp.Resume {
		all = append(all, cp.Resume[i].values()...)
	}
	return all
}

// values are the values that an export holds as JSON text, with its children's.
func (e *Export) values() []*json.RawMessage {
	all := append([]*json.RawMessage{&e.Input}, e.Checkpoint.values()...)
	for i := range e.Children {
		all = append(all, e.Children[i].values()...)
	}
	return all
}

// recanonicalize makes values canonical again that went through a writer of
// JSON, which may have escaped what canonical text does not. It takes them one
// by one: what they were written into nests them deeper than they are.
func recanonicalize(values ...*json.RawMessage) error {
	for _, v := range values {
		if len(*v) == 0 {
			continue
		}
		canonical, err := value.Canonical(*v)
		if err != nil {
			return err
		}
		*v = canonical
	}
	return nil
}
