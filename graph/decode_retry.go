package graph

import (
	"math"
	"strconv"
	"time"

	"github.com/tidemill/tidemill/graph/source"
)

// The defaults of the policy of attempts.
const (
	defaultBackoff    = Duration(time.Second)
	defaultMaxBackoff = Duration(time.Minute)
)

func defaultRetry() *Retry {
	return &Retry{MaxAttempts: 1, Backoff: defaultBackoff, Coefficient: 1, MaxBackoff: defaultMaxBackoff}
}

// retry reads a node's policy of attempts, or gives the default.
func (d *decoder) retry(node field) *Retry {
	retry := defaultRetry()
	f, given := node.member("retry")
	if !given || !d.members(f, codeInvalidRetry, "retry") {
		return retry
	}
	d.fields(f, codeRetryOption, "retry", names(retryTable()))
	if attempts, ok := f.member("max_attempts"); ok {
		if n, ok := d.integer(attempts, 1, codeRetryAttempts, "max_attempts"); ok {
			retry.MaxAttempts = n
		}
	}
	if coefficient, ok := f.member("coefficient"); ok {
		retry.Coefficient = d.coefficient(coefficient)
	}
	if types, ok := f.member("non_retryable"); ok {
		retry.NonRetryable = d.texts(types, "non_retryable")
	}
	d.backoffs(f, retry)
	return retry
}

// backoffs reads the first wait, in either spelling, and the longest one.
func (d *decoder) backoffs(f field, retry *Retry) {
	first, inText := f.member("backoff")
	millis, inMillis := f.member("backoff_ms")
	switch {
	case inText && inMillis:
		d.failKey(millis.at, codeConflictingFields, "keep one of them", "backoff and backoff_ms are both given")
	case inText:
		retry.Backoff = d.duration(first, span{code: codeRetryBackoff, what: "backoff", zero: true})
	case inMillis:
		first = millis
		retry.Backoff = d.millis(millis)
	}
	if retry.MaxAttempts > 1 && (inText || inMillis) {
		d.floor(first, retry.Backoff, "backoff")
	}
	longest, ok := f.member("max_backoff")
	if !ok {
		retry.MaxBackoff = max(retry.MaxBackoff, retry.Backoff)
		return
	}
	retry.MaxBackoff = d.duration(longest, span{code: codeRetryBackoff, what: "max_backoff", none: true})
	if retry.MaxBackoff > 0 && retry.MaxBackoff < retry.Backoff {
		d.fail(longest.at, codeRetryBackoff, "raise max_backoff or lower backoff",
			"max_backoff is %s, less than the first backoff of %s", retry.MaxBackoff, retry.Backoff)
	}
}

// millis reads backoff_ms, a whole number of milliseconds.
func (d *decoder) millis(f field) Duration {
	n, ok := d.integer(f, 0, codeRetryBackoff, "backoff_ms")
	if ok && n == 0 {
		return None
	}
	return Duration(time.Duration(n) * time.Millisecond)
}

func (d *decoder) coefficient(f field) float64 {
	if f.kind() == source.Number {
		c, err := strconv.ParseFloat(string(f.raw()), 64)
		if err == nil && c >= 1 && !math.IsInf(c, 0) {
			return c
		}
	}
	d.fail(f.at, codeRetryCoefficient, "", "coefficient must be a number of at least 1")
	return 1
}
