package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time as documents write it: Go's notation, plus days
// ("7d"), plus "none". The zero Duration means "not given".
type Duration time.Duration

// None is the Duration that documents write as "none": no limit.
const None Duration = -1

// The reasons why a text is not a Duration.
var (
	ErrDurationSyntax   = errors.New("graph: not a duration; write 30s, 5m, 12h, 7d or none")
	ErrDurationNegative = errors.New("graph: a duration cannot be negative")
	ErrDurationOverflow = errors.New("graph: a duration cannot exceed 100 years")
)

const (
	day         = 24 * time.Hour
	maxDuration = 100 * 365 * day
)

// ParseDuration reads a Duration. It accepts what [time.ParseDuration] does, a
// whole or fractional number of days as the first part ("7d", "1d12h"), and
// "none". Negative lengths and lengths over a hundred years are refused.
func ParseDuration(text string) (Duration, error) {
	if text == "none" {
		return None, nil
	}
	rest, days := text, time.Duration(0)
	if before, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseFloat(before, 64)
		if err != nil || strings.ContainsAny(before, "eExXnN") {
			return 0, fmt.Errorf("%w: %q", ErrDurationSyntax, text)
		}
		if n > float64(maxDuration/day) {
			return 0, fmt.Errorf("%w: %q", ErrDurationOverflow, text)
		}
		days, rest = time.Duration(n*float64(day)), after
	}
	d := time.Duration(0)
	if rest != "" || text == "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, durationError(text, rest)
		}
	}
	switch {
	case d < 0 || days < 0:
		return 0, fmt.Errorf("%w: %q", ErrDurationNegative, text)
	case d > maxDuration || days+d > maxDuration:
		return 0, fmt.Errorf("%w: %q", ErrDurationOverflow, text)
	}
	return Duration(days + d), nil
}

// durationError tells a number too large for Go's parser from a wrong text.
func durationError(text, rest string) error {
	if digits := strings.TrimRight(rest, "nuµmsh"); digits != rest && digits != "" &&
		strings.Trim(digits, "0123456789") == "" {
		return fmt.Errorf("%w: %q", ErrDurationOverflow, text)
	}
	return fmt.Errorf("%w: %q", ErrDurationSyntax, text)
}

// Std is the length as a [time.Duration]; zero for None.
func (d Duration) Std() time.Duration {
	if d == None {
		return 0
	}
	return time.Duration(d)
}

// String is the shortest notation of hours, minutes and seconds that
// ParseDuration reads: 72h rather than 72h0m0s.
func (d Duration) String() string {
	if d == None {
		return "none"
	}
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalJSON writes the notation as JSON text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the notation from JSON text.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	parsed, err := ParseDuration(text)
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
