package permits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/admission"
)

// Uncovered tells what rules name and the limits of their domains do not: domains,
// keys and rates that are written out. No book would ever grant them. What is made
// of facts is seen only when it is asked for.
func Uncovered(r Rules, limits map[string]admission.Limits) RuleErrors {
	var found RuleErrors
	for i := range r.Rules {
		rule, field := &r.Rules[i], fmt.Sprintf("rules[%d].", i)
		if strings.Contains(rule.Domain, "${") {
			continue
		}
		domain := rule.Domain
		if domain == "" {
			domain = DefaultDomain
		}
		l, known := limits[domain]
		if !known {
			found = append(found, &RuleError{
				Field: field + "domain", Code: CodeInvalidRule,
				Message: fmt.Sprintf("there are no limits for a domain %q", domain), Fix: "add it to domains",
			})
			continue
		}
		found = append(found, uncovered(field, "keys", rule.Keys, names(l.Keys))...)
		found = append(found, uncovered(field, "rates", rule.Rates, rateNames(l.Rates))...)
	}
	return found
}

func uncovered(field, list string, units []admission.Units, entries []string) RuleErrors {
	var found RuleErrors
	for i, u := range units {
		if u.Key == "" || strings.Contains(u.Key, "${") || covered(u.Key, entries) {
			continue
		}
		found = append(found, &RuleError{
			Field: fmt.Sprintf("%s%s[%d].key", field, list, i), Code: CodeInvalidRule,
			Message: fmt.Sprintf("the limits have no %q among their %s, so that it would never be granted", u.Key, list),
			Fix:     fmt.Sprintf("add it to %s of the limits: %s", list, entry(u.Key)),
		})
	}
	return found
}

// covered tells whether an entry stands for a key: the same, or a beginning of it
// that ends in a star.
func covered(key string, entries []string) bool {
	for _, e := range entries {
		prefix, many := strings.CutSuffix(e, "*")
		if e == key || many && strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// entry words the entries that would stand for a key.
func entry(key string) string {
	if at := strings.LastIndexByte(key, ':'); at >= 0 {
		return fmt.Sprintf("%q, or %q for all like it", key, key[:at+1]+"*")
	}
	return strconv.Quote(key)
}

func names(limits []admission.KeyLimit) []string {
	list := make([]string, len(limits))
	for i, l := range limits {
		list[i] = l.Key
	}
	return list
}

func rateNames(rates []admission.KeyRate) []string {
	list := make([]string, len(rates))
	for i, r := range rates {
		list[i] = r.Key
	}
	return list
}
