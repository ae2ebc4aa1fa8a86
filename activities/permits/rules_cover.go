package permits

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/admission"
)

// Uncovered tells what rules name and the limits of their domains do not: domains,
// keys and rates that are written out. No book would ever grant them. What is made
// of facts is seen only when it is asked for; see [Unlikely].
func Uncovered(r Rules, limits map[string]admission.Limits) RuleErrors {
	return lacking(r, limits, func(key string, entries []string) bool {
		return key != "" && !strings.Contains(key, "${") && !covered(key, entries)
	})
}

// Unlikely tells which keys and rates are made of facts in such a way that no limit
// stands for any of them.
func Unlikely(r Rules, limits map[string]admission.Limits) RuleErrors {
	return lacking(r, limits, func(key string, entries []string) bool {
		begin, _, made := strings.Cut(key, "${")
		return made && !strings.HasSuffix(begin, "$") && !coverable(begin, entries)
	})
}

// lacking looks at the rules whose domain is written out.
func lacking(r Rules, limits map[string]admission.Limits, lacks func(key string, entries []string) bool) RuleErrors {
	var found RuleErrors
	for i := range r.Rules {
		rule, field := &r.Rules[i], fmt.Sprintf("rules[%d].", i)
		if strings.Contains(rule.Domain, "${") {
			continue
		}
		domain := cmp.Or(rule.Domain, DefaultDomain)
		l, known := limits[domain]
		if !known {
			found = append(found, &RuleError{
				Field: field + "domain", Code: CodeInvalidRule,
				Message: fmt.Sprintf("there are no limits for a domain %q", domain), Fix: "add it to domains",
			})
			continue
		}
		for _, list := range []struct {
			name    string
			units   []admission.Units
			entries []string
		}{{"keys", rule.Keys, names(l.Keys)}, {"rates", rule.Rates, rateNames(l.Rates)}} {
			for j, u := range list.units {
				if lacks(u.Key, list.entries) {
					found = append(found, lack(fmt.Sprintf("%s%s[%d].key", field, list.name, j), list.name, u.Key))
				}
			}
		}
	}
	return found
}

func lack(field, list, key string) *RuleError {
	return &RuleError{
		Field: field, Code: CodeInvalidRule,
		Message: fmt.Sprintf("the limits have no %q among their %s, so that it would never be granted", key, list),
		Fix:     fmt.Sprintf("add it to %s of the limits: %s", list, entry(key)),
	}
}

// coverable tells whether an entry stands for some key with a beginning.
func coverable(begin string, entries []string) bool {
	for _, e := range entries {
		prefix, many := strings.CutSuffix(e, "*")
		if strings.HasPrefix(prefix, begin) || many && strings.HasPrefix(begin, prefix) {
			return true
		}
	}
	return false
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
	if begin, _, made := strings.Cut(key, "${"); made {
		return strconv.Quote(begin + "*")
	}
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
