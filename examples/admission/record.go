package admission

import (
	"cmp"
	"slices"
	"time"
)

// Call is one call as the service saw it.
type Call struct {
	Tenant string
	Token  uint64        // of the permit; 0: the caller had none
	At     time.Duration // since the service began
}

// Record is all that the service saw, in order of arrival.
type Record struct {
	Calls []Call
	Peak  int // calls at a time
}

// Share is what a tenant got.
type Share struct {
	Tenant string
	Calls  int           // while every tenant wanted more
	Last   time.Duration // when its last call of all came
}

// Shares says how the calls were divided from a moment at which all tenants wanted
// to call until the first of them was through. Calls are taken in the order of their
// permits, where they had some: between grant and call one may pass another.
func (r Record) Shares(tenants []string, from time.Duration) []Share {
	shares, left := make([]Share, len(tenants)), make([]int, len(tenants))
	later := slices.DeleteFunc(slices.Clone(r.Calls), func(c Call) bool { return c.At < from })
	slices.SortStableFunc(later, func(a, b Call) int { return cmp.Compare(a.Token, b.Token) })
	for i, tenant := range tenants {
		shares[i].Tenant = tenant
		for _, call := range r.Calls {
			if call.Tenant == tenant {
				shares[i].Last = call.At
			}
		}
		for _, call := range later {
			if call.Tenant == tenant {
				left[i]++
			}
		}
	}
	for _, call := range later {
		if slices.Contains(left, 0) {
			break
		}
		i := slices.Index(tenants, call.Tenant)
		shares[i].Calls++
		left[i]--
	}
	return shares
}

// Until counts the calls that came before a moment.
func (r Record) Until(moment time.Duration) int {
	i := slices.IndexFunc(r.Calls, func(c Call) bool { return c.At >= moment })
	if i < 0 {
		return len(r.Calls)
	}
	return i
}

// Fastest is the greatest number of calls within any second.
func (r Record) Fastest() int {
	most, from := 0, 0
	for i, call := range r.Calls {
		for call.At-r.Calls[from].At >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// Ahead is by how many calls the record was at any time ahead of a rate that began
// with its burst; at most 0 when the rate was kept. It does not depend on how long
// calls were under way: a call cannot come before its permit.
func (r Record) Ahead(perSecond, burst int) int {
	most := -burst
	for i, call := range r.Calls {
		allowed := burst + int(call.At.Seconds()*float64(perSecond))
		most = max(most, i+1-allowed)
	}
	return most
}
