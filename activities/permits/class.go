package permits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemill/tidemill/admission"
)

// The shape of the name of a domain, which is part of a workflow id.
const (
	maxDomainBytes = 64
	domainShape    = "write at most 64 letters, digits, dots, dashes and underscores"
)

// CheckDomain says why a text is not the name of a domain.
func CheckDomain(name string) error {
	other := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	}
	if name == "" || len(name) > maxDomainBytes || strings.ContainsFunc(name, other) {
		return fmt.Errorf("permits: %q is not the name of a domain; %s", name, domainShape)
	}
	return nil
}

// Checked is a classifier whose every answer a book can take: what next answers is
// held against the hard bounds, and against the domains there are, and a panic is an
// error like any other. No domains: any will do.
func Checked(next Classifier, domains ...string) Classifier {
	return func(f Facts) (class Class, err error) {
		defer func() {
			if r := recover(); r != nil {
				class, err = Class{}, unclassified("the classifier panicked: %v", r)
			}
		}()
		if class, err = next(f); err != nil {
			return Class{}, err
		}
		if class.Domain == "" {
			class.Domain = DefaultDomain
		}
		if err := class.check(); err != nil {
			return Class{}, unclassified("%w", err)
		}
		if len(domains) > 0 && !slices.Contains(domains, class.Domain) {
			return Class{}, unclassified("there are no limits for a domain %q", class.Domain)
		}
		return class, nil
	}
}

// check holds the class against what every book asks of a request.
func (c *Class) check() error {
	r := admission.Request{
		ID: "class", Owner: admission.Owner{Process: "class"},
		Agent: c.Agent, Keys: c.Keys, Rates: c.Rates, Flow: c.Flow, Priority: c.Priority,
	}
	if c.Free() { // a request could not be
		r.Agent = "agent"
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if c.Domain != "" {
		return CheckDomain(c.Domain)
	}
	return nil
}
