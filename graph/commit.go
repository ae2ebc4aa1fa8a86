package graph

import (
	"bytes"
	"encoding/json"
	"math/big"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// commit makes a result part of the run: its delta goes through the reducers
// into the state and its output becomes the run's, all or nothing. The route
// is decided after that. A branch's result waits for its fork.
func (m *Machine) commit(now time.Time, a *Activation, r *Result) {
	if failure := r.checkControl(); failure != nil {
		m.fail(a, failure)
		return
	}
	if a.owner() != "" {
		m.commitInner(now, a, r)
		return
	}
	state, failure := m.reduce(m.cp.State, r.Delta)
	if failure == nil {
		failure = m.own(r.Delta)
	}
	if failure != nil {
		m.fail(a, failure)
		return
	}
	if failure := m.carry(a, state, len(r.Output), m.outputSize(r)); failure != nil {
		m.fail(a, failure)
		return
	}
	m.cp.State = state
	m.mark(a, NodeCompleted)
	a.Failure, a.Output, a.Target, a.Phase = nil, orNull(r.Output), r.Target, PhaseRouting
	a.Pause, a.Asked = nil, false
	switch r.Control {
	case ControlOutput:
		m.cp.Output = a.Output
	case ControlStop:
		m.cp.Output, a.Target = a.Output, End
	case ControlPause:
		a.Asked = true
		m.openPause(now, a, r.Pause)
	case ControlOK, ControlRoute:
	}
}

// outputSize is how large the run's output would be with a result.
func (m *Machine) outputSize(r *Result) int {
	if r.Control == ControlOutput || r.Control == ControlStop {
		return len(r.Output)
	}
	return len(m.cp.Output)
}

// carry refuses what would be too large for a run to take into its next life:
// its document, its state, its output, and what its activations were given and
// give. Given is what the activation itself would hold, output the run's.
func (m *Machine) carry(a *Activation, state value.Object, given, output int) *Failure {
	size := m.plan.Size + state.Size() + given + output + m.cp.Child.size() + m.cp.resumeSize()
	for i := range m.cp.Activations {
		if other := &m.cp.Activations[i]; other != a {
			size += other.holds()
		}
	}
	if size <= m.limits.State {
		return nil
	}
	return Failf(ErrTypeStateTooLarge,
		"the run would carry %d bytes (document %d, state %d, the rest outputs under way); at most %d are carried. "+
			"Store large values elsewhere and keep a reference",
		size, m.plan.Size, state.Size(), m.limits.State)
}

// holds is how many bytes an activation keeps. A branch is given what its fork
// keeps, so that does not count again.
func (a *Activation) holds() int {
	size := len(a.Output) + a.Delta.Size() + len(a.Args) + len(a.Returned) + a.Mapping.size()
	if a.owner() == "" {
		size += len(a.Input)
	}
	for _, b := range a.Branches {
		size += len(b.Output) + b.Delta.Size() + b.Mapping.size()
	}
	return size
}

// checkControl refuses what no run can follow. The wrapper of our actions lets
// none of it through; an activity of another make may say anything.
func (r *Result) checkControl() *Failure {
	switch r.Control {
	case ControlOutput, ControlOK, ControlStop:
		return nil
	case ControlRoute:
		if r.Target == "" {
			return Failf(ErrTypeInvalidControl, "the route has no target; give a node's id or end")
		}
		return nil
	case ControlPause:
		if r.Pause == nil {
			return Failf(ErrTypeInvalidControl, "the pause says nothing of what it shows and accepts")
		}
		return nil
	default:
		return Failf(ErrTypeInvalidControl, "there is no control %q; a result is output, ok, stop, route or pause", r.Control)
	}
}

// reduce is the state after a delta. The state itself stays as it is.
func (m *Machine) reduce(before, delta value.Object) (value.Object, *Failure) {
	if len(delta) == 0 {
		return before, nil
	}
	state := before.Clone()
	for _, member := range delta {
		merged := member.Value
		if old, ok := state.Get(member.Key); ok {
			var failure *Failure
			if merged, failure = reduceKey(m.reducer(member.Key), member.Key, old, merged); failure != nil {
				return nil, failure
			}
		} else if failure := reduceFirst(m.reducer(member.Key), member.Key, merged); failure != nil {
			return nil, failure
		}
		state.Set(member.Key, merged)
	}
	return state, nil
}

func (m *Machine) reducer(key string) ReducerKind {
	return m.plan.Document.reducer(key)
}

// reduceFirst checks the first value of a key against its reducer.
func reduceFirst(kind ReducerKind, key string, v json.RawMessage) *Failure {
	want := value.KindOf(v)
	switch {
	case kind == ReduceAppend && want != value.KindArray:
		return mismatch(kind, key, "a list", v)
	case kind == ReduceSum && want != value.KindNumber:
		return mismatch(kind, key, "a number", v)
	default:
		return nil
	}
}

// reduceKey combines the value a key has with the value of a delta.
func reduceKey(kind ReducerKind, key string, old, v json.RawMessage) (json.RawMessage, *Failure) {
	switch kind {
	case ReduceAppend:
		return appendLists(key, old, v)
	case ReduceSum:
		return sum(key, old, v)
	case ReduceRejectConflict:
		if !value.Equal(old, v) {
			return nil, Failf(ErrTypeReducerConflict, "state key %q already has another value", key)
		}
		return v, nil
	case ReduceOverwrite:
		return v, nil
	default:
		return v, nil
	}
}

func mismatch(kind ReducerKind, key, want string, v json.RawMessage) *Failure {
	return Failf(ErrTypeReducerTypeMismatch, "reducer %s of state key %q needs %s, not %s", kind, key, want, value.KindOf(v))
}

// appendLists joins two lists in canonical form.
func appendLists(key string, old, v json.RawMessage) (json.RawMessage, *Failure) {
	for _, list := range []json.RawMessage{old, v} {
		if value.KindOf(list) != value.KindArray {
			return nil, mismatch(ReduceAppend, key, "a list", list)
		}
	}
	switch {
	case string(old) == "[]":
		return v, nil
	case string(v) == "[]":
		return old, nil
	}
	return bytes.Join([][]byte{old[:len(old)-1], v[1:]}, []byte(",")), nil
}

// sum adds two numbers: exactly when both are integers of 64 bits, else as
// floating point.
func sum(key string, old, v json.RawMessage) (json.RawMessage, *Failure) {
	for _, number := range []json.RawMessage{old, v} {
		if value.KindOf(number) != value.KindNumber {
			return nil, mismatch(ReduceSum, key, "a number", number)
		}
	}
	overflow := Failf(ErrTypeReducerNumericOverflow, "the sum of state key %q leaves the range of numbers", key)
	a, aWhole := new(big.Int).SetString(string(old), 10)
	b, bWhole := new(big.Int).SetString(string(v), 10)
	if aWhole && !a.IsInt64() || bWhole && !b.IsInt64() {
		return nil, overflow // larger integers pass through, but nothing reckons with them
	}
	if aWhole && bWhole {
		total := a.Add(a, b)
		if !total.IsInt64() {
			return nil, overflow
		}
		return json.RawMessage(total.String()), nil
	}
	var x, y float64
	if json.Unmarshal(old, &x) != nil || json.Unmarshal(v, &y) != nil {
		return nil, overflow
	}
	raw, err := value.Marshal(x + y)
	if err != nil {
		return nil, overflow
	}
	return raw, nil
}
