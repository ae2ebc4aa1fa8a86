package admission

import (
	"math"
	"time"
)

// The times that a book takes, in seconds since 1970: the years 1971 to 2199.
// They leave room to add any duration of the limits without overflow.
const (
	firstSecond = 365 * 24 * 60 * 60
	lastSecond  = 7_258_118_400
)

// never is later than every time.
const never = math.MaxInt64

// inRange tells the times that a book takes.
func inRange(t time.Time) bool { return t.Unix() >= firstSecond && t.Unix() < lastSecond }

// nanos is a time as the book reckons: nanoseconds since 1970, 0 for none. A
// time out of range is brought to the nearest bound.
func nanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Unix() < firstSecond:
		return firstSecond * int64(time.Second)
	case t.Unix() >= lastSecond:
		return lastSecond * int64(time.Second)
	}
	return t.UnixNano()
}

// moment is the inverse of nanos; never gives no time too.
func moment(ns int64) time.Time {
	if ns == 0 || ns == never {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// after is d later than now; None gives never.
func after(now int64, d time.Duration) int64 {
	if d == None {
		return never
	}
	return now + int64(d)
}
