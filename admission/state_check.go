package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// maxTime is later than any time that a book can reach.
const maxTime = lastSecond*int64(time.Second) + 4*int64(maxDuration)

// maxTag is more than any book can have granted.
const maxTag = 1 << 61

// ParseState reads the JSON form of a State, strictly. The error matches
// [ErrInvalidState].
func ParseState(raw []byte) (State, error) {
	var s State
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrInvalidState, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return State{}, fmt.Errorf("%w: something follows the object", ErrInvalidState)
	}
	return s, s.Validate()
}

// Validate gives all faults, joined; each is a [FieldError] matching
// [ErrInvalidState].
func (s *State) Validate() error {
	f := &faults{kind: ErrInvalidState}
	if s.Version != StateVersion {
		f.add("version", "is %d; this program reads %d", s.Version, StateVersion)
		return f.err()
	}
	if err := s.Limits.Validate(); err != nil {
		f.add("limits", "%v", err)
	}
	checkLimits(f, "overrides.limits", s.Overrides.Limits, 0, MaxUnits)
	checkRates(f, "overrides.rates", s.Overrides.Rates)
	checkTime(f, "clock", s.Clock)
	if s.Base > s.Token {
		f.add("base", "is %d and the latest token %d", s.Base, s.Token)
	}
	if s.Virtual < 0 || s.Virtual > maxTag {
		f.add("virtual", "is out of range")
	}
	if !slices.IsSortedFunc(s.Paused, strings.Compare) {
		f.add("paused", "is not in order")
	}
	s.checkFlows(f)
	s.checkMeters(f)
	s.checkMemory(f)
	holds := s.checkHolds(f)
	s.checkClaims(f, s.checkRequests(f, holds))
	return f.err()
}

func (s *State) checkFlows(f *faults) {
	names := map[string]bool{}
	for i, w := range s.Flows {
		field := fmt.Sprintf("flows[%d]", i)
		checkOnce(f, field+".flow", names, w.Flow)
		if w.Tag < s.Virtual || w.Tag > maxTag {
			f.add(field+".tag", "is out of range")
		}
		checkTime(f, field+".claimed", w.Claimed)
	}
}

func (s *State) checkMeters(f *faults) {
	keys := map[string]bool{}
	for i, m := range s.Meters {
		field := fmt.Sprintf("meters[%d]", i)
		checkName(f, field+".key", m.Key)
		checkOnce(f, field+".key", keys, m.Key)
		checkTime(f, field+".tat", m.TAT)
		if m.Step < 0 || m.Step > int64(maxDuration) {
			f.add(field+".step", "is out of range")
		}
		if m.Rate != nil {
			m.Rate.check(f, field+".rate")
		}
	}
	checkLimits(f, "lost", s.Lost, 0, MaxUnits)
}

func (s *State) checkMemory(f *faults) {
	last := int64(0)
	for i, e := range s.Endings {
		if e.At < last || e.At > s.Clock {
			f.add(fmt.Sprintf("endings[%d].at", i), "is out of order")
		}
		last = e.At
	}
	if len(s.Endings) > rememberMost {
		f.add("endings", "has %d entries; at most %d", len(s.Endings), rememberMost)
	}
	for i, t := range s.Tombstones {
		checkTime(f, fmt.Sprintf("tombstones[%d].until", i), t.Until)
	}
}

func (s *State) checkHolds(f *faults) map[uint64]int {
	holds := map[uint64]int{}
	for i, h := range s.Holds {
		field := fmt.Sprintf("holds[%d]", i)
		if _, twice := holds[h.Token]; twice || h.Token == 0 || h.Token > s.Token {
			f.add(field+".token", "is 0, too great, or stands twice")
		}
		holds[h.Token] = 0
		checkAmounts(f, field+".keys", h.Keys)
	}
	return holds
}

// checkRequests checks them, and gives those that wait by their ids.
func (s *State) checkRequests(f *faults, holds map[uint64]int) map[string]EntryState {
	waiting, ids, tokens, last := map[string]EntryState{}, map[string]bool{}, map[uint64]bool{}, uint64(0)
	for i, e := range s.Requests {
		field := fmt.Sprintf("requests[%d]", i)
		checkText(f, field+".id", e.ID, MaxIDBytes)
		checkOnce(f, field+".id", ids, e.ID)
		e.Owner.check(f, field+".owner")
		if e.Seq <= last || e.Seq > s.Seq {
			f.add(field+".seq", "is out of order")
		}
		last = e.Seq
		for _, at := range []int64{e.Submitted, e.Lease, e.Suspect, e.Granted, e.Until, e.Visible, e.Deadline} {
			checkTime(f, field, at)
		}
		if e.Rank < -maxTime || e.Rank > maxTime {
			f.add(field+".rank", "is out of range")
		}
		checkAmounts(f, field+".keys", e.Keys)
		checkAmounts(f, field+".rates", e.Rates)
		for _, token := range e.rests() {
			if _, ok := holds[token]; !ok {
				f.add(field, "rests on token %d, which holds nothing", token)
			}
			holds[token]++
		}
		if e.Token == 0 {
			waiting[e.ID] = e
			continue
		}
		if tokens[e.Token] || e.Seated || len(e.Keys)+len(e.Rates) > 0 {
			f.add(field+".token", "is that of another permit, or the permit waits as well")
		}
		tokens[e.Token] = true
	}
	for i, h := range s.Holds {
		if holds[h.Token] == 0 {
			f.add(fmt.Sprintf("holds[%d]", i), "is held by nobody")
		}
	}
	for i, id := range s.Again {
		if !ids[id] {
			f.add(fmt.Sprintf("again[%d]", i), "is no request of this book")
		}
	}
	return waiting
}

// rests lists the tokens of the holds that an entry rests on.
func (e *EntryState) rests() []uint64 {
	if e.Token == 0 {
		return e.Inherits
	}
	return append(slices.Clone(e.Inherits), e.Token)
}

func (s *State) checkClaims(f *faults, waiting map[string]EntryState) {
	ids := map[string]bool{}
	for i, c := range s.Claims {
		field := fmt.Sprintf("claims[%d]", i)
		checkOnce(f, field+".id", ids, c.ID)
		e, ok := waiting[c.ID]
		if !ok {
			f.add(field+".id", "does not wait")
		}
		checkTime(f, field+".ready", c.Ready)
		if c.Armed && len(c.Paid) != len(e.Rates) || !c.Armed && len(c.Paid) > 0 {
			f.add(field+".paid", "does not go with the rates of the request")
		}
		for _, paid := range c.Paid {
			if paid < 0 || paid > int64(maxDuration) {
				f.add(field+".paid", "is out of range")
			}
		}
	}
}

func checkTime(f *faults, field string, at int64) {
	if at < 0 || at > maxTime {
		f.add(field, "is no time that a book can reach")
	}
}

func checkOnce(f *faults, field string, seen map[string]bool, v string) {
	if seen[v] {
		f.add(field, "%q stands twice", v)
	}
	seen[v] = true
}

// checkAmounts checks the keys of a hold or of a request that waits: as
// [checkUnits], with the two keys of an agent.
func checkAmounts(f *faults, field string, list []Units) {
	if len(list) > MaxKeys+2 {
		f.add(field, "has %d entries", len(list))
		return
	}
	for i, u := range list {
		checkName(f, field, u.Key)
		within(f, field, u.Units, 1, MaxUnits)
		if i > 0 && list[i-1].Key >= u.Key {
			f.add(field, "is not in order")
		}
	}
}
