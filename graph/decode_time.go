package graph

import (
	"errors"
	"time"

	"github.com/tidemill/tidemill/graph/source"
)

// timerFloor is the least that a timer of the server waits.
const timerFloor = time.Second

// span says what a duration field accepts besides a positive duration.
type span struct {
	code string // of the error
	what string // names the field
	none bool   // none is accepted, and zero is not
	zero bool   // zero is accepted; it becomes None, for the zero Duration means "not given"
}

// duration reads a duration. It is zero when the field is wrong.
func (d *decoder) duration(f field, s span) Duration {
	text, ok := durationText(f)
	if !ok {
		d.fail(f.at, s.code, "write a length and a unit, such as 30s, 5m or 7d", "%s must be a duration, and this is %s", s.what, kindWord(f.kind()))
		return 0
	}
	length, err := ParseDuration(text)
	switch {
	case errors.Is(err, ErrDurationNegative):
		d.fail(f.at, s.code, "", "%s cannot be negative", s.what)
	case errors.Is(err, ErrDurationOverflow):
		d.fail(f.at, s.code, noneHint(s), "%s cannot exceed 100 years", s.what)
	case err != nil:
		d.fail(f.at, s.code, "write a length and a unit, such as 30s, 5m or 7d", "%q is not a duration", text)
	case length == None && !s.none && !s.zero:
		d.fail(f.at, s.code, "leave the field out, or give a length such as 30s", "%s cannot be none", s.what)
	case length == 0 && !s.zero:
		d.fail(f.at, s.code, noneHint(s), "%s cannot be 0", s.what)
	case length == 0:
		return None
	default:
		return length
	}
	return 0
}

func noneHint(s span) string {
	if s.none {
		return "write none for no limit"
	}
	return "give a length such as 30s"
}

// durationText is the text of a duration. A bare 0 needs no unit.
func durationText(f field) (string, bool) {
	switch f.kind() {
	case source.String:
		return f.node.Text, true
	case source.Number:
		return "0s", string(f.raw()) == "0"
	default:
		return "", false
	}
}

// floor warns about a time that a server timer cannot keep.
func (d *decoder) floor(f field, length Duration, what string) {
	if length > 0 && length.Std() < timerFloor {
		d.warn(f.at, codeTimerFloor, "write 1s or more", "%s is %s, and a timer of the server waits at least 1s", what, length)
	}
}
