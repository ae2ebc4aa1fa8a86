package source

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tidemill/tidemill/graph/value"
)

// flaw is a problem without its place.
type flaw struct {
	code, message, fix string
}

// The shapes of unquoted text that some reader of YAML takes for something other
// than text, and the one shape of a number that all of them agree on.
var (
	jsonNumber  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	looseNumber = regexp.MustCompile(`^[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$`)
	radixNumber = regexp.MustCompile(`^[-+]?0([xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)$`)
	clock       = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-9]{1,2})+(\.[0-9_]*)?$`)
	timestamp   = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}` +
		`(([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]*)?)?([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?)?$`)
	nonFinite = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|NaN|[-+]?Infinity)$`)
)

// classify reads text without quotes. With a flaw the kind is the best guess.
func classify(text string) (Kind, *flaw) {
	switch text {
	case "", "~", "null":
		return Null, nil
	case "true", "false":
		return Bool, nil
	}
	if f := ambiguousWord(text); f != nil {
		return String, f
	}
	if !strings.ContainsAny(text[:1], "+-.0123456789NI") {
		return String, nil
	}
	if jsonNumber.MatchString(text) {
		return Number, lossy(text)
	}
	return String, ambiguousNumber(text)
}

func ambiguousWord(text string) *flaw {
	meant := ""
	switch lower := strings.ToLower(text); lower {
	case "yes", "on", "y", "true":
		meant = "true"
	case "no", "off", "n", "false":
		meant = "false"
	case "null":
		meant = "null"
	default:
		return nil
	}
	return &flaw{
		CodeAmbiguousScalar,
		fmt.Sprintf("%s without quotes is text to some readers of YAML and %s to others", text, meant),
		fmt.Sprintf("write %q in quotes for text, or %s", text, meant),
	}
}

func ambiguousNumber(text string) *flaw {
	fix := fmt.Sprintf("write %q in quotes for text", text)
	var what string
	switch {
	case nonFinite.MatchString(text):
		return &flaw{CodeNonFiniteNumber, text + " is not a finite number, and JSON has no form for it", fix + ", or a finite number"}
	case timestamp.MatchString(text):
		return &flaw{CodeAmbiguousScalar, text + " without quotes is text to some readers of YAML and a date to others", fix}
	case clock.MatchString(text):
		what, fix = "a number in base 60 to others", fix+", or a duration such as 90s"
	case radixNumber.MatchString(text):
		what, fix = "a number in another base to others", fix+", or the number in base 10"
	case looseNumber.MatchString(text):
		what, fix = "a number to others", fix+", or the number with "+jsonAdvice
	default:
		return nil
	}
	return &flaw{CodeAmbiguousScalar, fmt.Sprintf("%s without quotes is text to some readers of YAML and %s", text, what), fix}
}

const jsonAdvice = "no plus sign, leading zero or underscore, and digits on both sides of a point"

// lossy finds a number whose value would change.
func lossy(text string) *flaw {
	if value.KeepsPrecision(text) {
		return nil
	}
	f := &flaw{CodePrecisionLost, text + " cannot be held as a number without changing it", fmt.Sprintf("write %q in quotes for text", text)}
	if kept, err := value.Canonical([]byte(text)); err == nil {
		f.message += ": it would become " + string(kept)
		f.fix += ", or " + string(kept)
	}
	return f
}
