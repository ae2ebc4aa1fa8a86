package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// MaxInlineItems is how many items of a map a run carries out itself. A longer
// list is given to a run of its own.
const MaxInlineItems = 200

// Mapping is a map whose items are under way.
type Mapping struct {
	Base    Address    `json:"base"` // begins the addresses of its items
	Items   []MapItem  `json:"items"`
	Verdict MapVerdict `json:"verdict,omitempty"`
}

// MapItem is how one item of a map stands.
type MapItem struct {
	Value    json.RawMessage `json:"value"`
	Key      string          `json:"key,omitempty"` // its label
	Status   BranchStatus    `json:"status"`
	Output   json.RawMessage `json:"output,omitempty"`
	Failure  *Failure        `json:"failure,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
}

// MapVerdict is why a map takes no more items up.
type MapVerdict string

// The verdicts on a map.
const (
	MapOpen      MapVerdict = ""          // it goes on
	MapExceeded  MapVerdict = "exceeded"  // more items failed than are tolerated
	MapTimedOut  MapVerdict = "timed_out" // its timeout is spent
	MapDismissed MapVerdict = "dismissed" // its fork was decided without it
)

func newMapping(base Address, list json.RawMessage, keys []string) (*Mapping, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, err
	}
	mp := &Mapping{Base: base, Items: make([]MapItem, len(items))}
	for i := range items {
		mp.Items[i] = MapItem{Value: items[i], Status: BranchUnstarted}
		if i < len(keys) {
			mp.Items[i].Key = keys[i]
		}
	}
	return mp, nil
}

func (mp *Mapping) clone() *Mapping {
	if mp == nil {
		return nil
	}
	c := *mp
	c.Items = slices.Clone(mp.Items)
	return &c
}

// size is about how many bytes a map's items take in a checkpoint.
func (mp *Mapping) size() int {
	if mp == nil {
		return 0
	}
	const frame = 32 // of an item
	size := 0
	for i := range mp.Items {
		item := &mp.Items[i]
		size += frame + len(item.Value) + len(item.Key) + len(item.Output)
		if item.Failure != nil {
			size += len(item.Failure.Message) + len(item.Failure.Details)
		}
	}
	return size
}

// count is how many items stand in a status.
func (mp *Mapping) count(statuses ...BranchStatus) int {
	n := 0
	for i := range mp.Items {
		if slices.Contains(statuses, mp.Items[i].Status) {
			n++
		}
	}
	return n
}

// settle keeps how an item ended.
func (it *MapItem) settle(a *Activation, ended Branch) {
	it.Status, it.Output, it.Failure, it.Attempts = ended.Status, ended.Output, ended.Failure, a.Attempts
}

// decideMap takes up the list of a map: here, or in a run of its own when it is
// long. When that run has ended the node gets its output and delta.
func (m *Machine) decideMap(now time.Time, node *Node, a *Activation, decider Decider) bool {
	if a.Returned != nil {
		return m.finishMap(a, decider)
	}
	list, keys := node.Items, []string(nil)
	if !literal(node.Items) || node.Key != nil {
		d, ok := m.ask(a, decider, Question{Kind: AskItems, Scope: Scope{Input: a.Input}})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, d.Failure)
			return true
		}
		list, keys = d.Output, d.Keys
	}
	mapping, err := newMapping(a.Address.again(a.Attempts+1), list, keys)
	switch {
	case err != nil || value.KindOf(list) != value.KindArray:
		m.fail(a, Failf(ErrTypeMapItemsInvalid, "items must give a list, and gave %s", value.KindOf(list)))
		return true
	case len(mapping.Items) > MaxItems:
		m.fail(a, Failf(ErrTypeMapItemsInvalid,
			"the list has %d items; a map takes at most %d: map over groups of them", len(mapping.Items), MaxItems))
		return true
	}
	if failure := m.carry(a, m.cp.State, mapping.size(), len(m.cp.Output)); failure != nil {
		m.fail(a, failure)
		return true
	}
	if len(mapping.Items) > MaxInlineItems {
		m.startMap(now, node, a, &MapStart{Node: node.ID, Input: a.Input, Items: list, Keys: keys})
		return true
	}
	m.openMap(now, node, a, mapping)
	return true
}

// startMap gives a map to a run of its own, with the state keys that its items
// read.
func (m *Machine) startMap(now time.Time, node *Node, a *Activation, start *MapStart) {
	state := m.cp.State
	if !node.ReadsAll {
		state = state.Select(node.Reads)
	}
	m.startChild(now, node, a, StartChild{
		Graph: m.plan.Document.ID, Input: state.Raw(), Start: ChildStart{Fingerprint: m.plan.Fingerprint, Map: start},
	})
}

// openMap begins a map in this run.
func (m *Machine) openMap(now time.Time, node *Node, a *Activation, mapping *Mapping) {
	a.Mapping = mapping
	a.Phase = PhaseMapping
	m.mark(a, NodeActive)
	if node.Timeout > 0 {
		m.sleep(a, PhaseMapping, now.Add(node.Timeout.Std()))
	}
}

// advanceMap judges a map and takes up what its window has room for. Like a fork
// it waits until its items have come to rest.
func (m *Machine) advanceMap(now time.Time, a *Activation) bool {
	if m.stirs(a.Address) {
		return false
	}
	node, mp := m.plan.Node(a.Node), a.Mapping
	if mp.Verdict == MapOpen {
		if node.Tolerate.exceeded(mp.count(BranchFailed), len(mp.Items)) {
			m.dismissMap(now, a, MapExceeded)
			return true
		}
		if m.startItems(node, a) {
			return true
		}
	}
	if mp.count(BranchActive) > 0 {
		return false
	}
	m.closeMap(now, node, a)
	return true
}

// mapMoves reports whether a map goes on without the world.
func (m *Machine) mapMoves(a *Activation) bool {
	mp := a.Mapping
	active := mp.count(BranchActive)
	if active == 0 {
		return true
	}
	if mp.Verdict != MapOpen {
		return false
	}
	node := m.plan.Node(a.Node)
	return node.Tolerate.exceeded(mp.count(BranchFailed), len(mp.Items)) ||
		active < node.MaxConcurrency && mp.count(BranchUnstarted) > 0
}

// exceeded reports whether more items failed than are tolerated; without a
// tolerance none may.
func (t *Tolerance) exceeded(failed, total int) bool {
	switch {
	case t == nil:
		return failed > 0
	case t.Percent > 0:
		return float64(failed)*100 > t.Percent*float64(total)
	default:
		return failed > t.Count
	}
}

// startItems takes up the next items while the window has room.
func (m *Machine) startItems(node *Node, a *Activation) bool {
	over := *a // appending may move the activation itself
	mp := over.Mapping
	active := mp.count(BranchActive)
	started := false
	for i := range mp.Items {
		if active >= node.MaxConcurrency {
			break
		}
		if mp.Items[i].Status != BranchUnstarted {
			continue
		}
		mp.Items[i].Status, started = BranchActive, true
		active++
		m.cp.Activations = append(m.cp.Activations, Activation{
			Node: ItemID(over.Node), Address: mp.Base.Join(Segment{Item: i}), Phase: PhaseReady,
			Input: over.Input, Map: over.Address, Item: mp.Items[i].Value, Index: i,
		})
	}
	return started
}

// dismissMap ends what a map has open, and what it never took up.
func (m *Machine) dismissMap(now time.Time, a *Activation, why MapVerdict) {
	a.Mapping.Verdict = why
	for i := range a.Mapping.Items {
		if a.Mapping.Items[i].Status == BranchUnstarted {
			a.Mapping.Items[i].Status = BranchSkipped
		}
	}
	for i := range m.cp.Activations {
		if item := &m.cp.Activations[i]; item.Map == a.Address && item.Phase != PhaseSettled {
			m.dismissInner(now, item)
		}
	}
}

// closeMap ends a map whose items have all ended.
func (m *Machine) closeMap(now time.Time, node *Node, a *Activation) {
	m.wake(a, true)
	mp := a.Mapping
	switch mp.Verdict {
	case MapOpen:
		a.Mapping, a.Returned, a.Phase = nil, mp.result(), PhaseDeciding
		if tooDeep(a.Returned) {
			m.fail(a, Failf(ErrTypeInvalidOutput, "an item's output is nested too deep to be kept in a list; let the items give flatter ones"))
		}
	case MapExceeded:
		failed := mp.count(BranchFailed)
		m.failMap(now, a, Ending{Kind: Failed, Failure: &Failure{
			Type: ErrTypeMapTolerance, Cause: mp.firstFailure(), Details: mp.details(),
			Message: fmt.Sprintf("%d of %d items failed; %s", failed, len(mp.Items), node.Tolerate),
		}})
	case MapTimedOut:
		m.failMap(now, a, Ending{Kind: TimedOut, Failure: &Failure{
			Type: ErrTypeActionTimedOut, Details: mp.details(), Message: fmt.Sprintf("the map ran out of its %s", node.Timeout),
		}})
	case MapDismissed:
		m.settleInner(a, lost(m.locate(a, decidedWithout())))
	}
}

// failMap counts the attempt of a map that failed. In a run of its own that is
// the parent's to do.
func (m *Machine) failMap(now time.Time, a *Activation, e Ending) {
	a.Mapping = nil
	if m.cp.Child.runsMap() {
		m.fail(a, e.Failure)
		return
	}
	m.countAttempt(a, e)
	m.endFailed(now, a, e)
}

// cutMap ends a map whose timeout is spent.
func (m *Machine) cutMap(now time.Time, a *Activation) {
	if a.Mapping.Verdict == MapOpen {
		m.dismissMap(now, a, MapTimedOut)
	}
}

// String says the tolerance in words.
func (t *Tolerance) String() string {
	switch {
	case t == nil:
		return "none may"
	case t.Percent > 0:
		return fmt.Sprintf("%g %% may", t.Percent)
	default:
		return fmt.Sprintf("%d may", t.Count)
	}
}

// firstFailure is the failure of the first item that failed, in order.
func (mp *Mapping) firstFailure() *Failure {
	for i := range mp.Items {
		if mp.Items[i].Status == BranchFailed {
			return mp.Items[i].Failure
		}
	}
	return nil
}

// finishMap gives a map its output, the list of its items' outputs unless its own
// fields say otherwise, and its delta. In a run of its own the result is all that
// is wanted.
func (m *Machine) finishMap(a *Activation, decider Decider) bool {
	result := a.Returned
	if m.cp.Child.runsMap() {
		a.Phase, a.Input, a.Returned = PhaseEnding, json.RawMessage("null"), nil
		m.cp.Output = result
		return true
	}
	node := m.plan.Node(a.Node)
	given := Result{}
	if node.Output == nil {
		outputs, failure := mapOutputs(result)
		if failure != nil {
			m.fail(a, failure)
			return true
		}
		given.Output = outputs
	}
	if !m.values(a, decider, given, result) {
		return false
	}
	a.Returned = nil
	return true
}

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
