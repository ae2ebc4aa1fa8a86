package tidemill

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// AdmissionOptions let attempts of nodes run only with a permit. The zero value
// bounds agents by the default limits and everything else by nothing.
//
// All workers of a task queue should say the same. Limits that change are put in
// force by the first worker that brings a higher Version.
type AdmissionOptions struct {
	Limits  AdmissionLimits   // of the domain "default". Zero means the defaults of each field.
	Domains []AdmissionDomain // further domains, each with a book of its own. Zero means none.
	// Rules say what attempts need. Zero means: agents themselves, the rest nothing.
	Rules AdmissionRules
	// Classify stands for Rules.Rules where Go is needed; Rules.Partition still
	// says what it sees as partition. Zero means the rules.
	Classify Classifier
	// Admitter is asked instead of the books of this package; then there are no
	// Limits and Domains here. Zero means the books.
	Admitter Admitter
	// MaxConcurrent is how many workflow tasks of books run at a time; there is
	// one book a domain. At least 2. Zero means the SDK's default.
	MaxConcurrent int
}

// AdmissionDomain is a domain besides the default one.
type AdmissionDomain struct {
	Name   string // what rules name
	Limits AdmissionLimits
}

// Validate reports everything that is wrong with the options, joined.
func (o *AdmissionOptions) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("tidemill: admission: "+format, args...))
	}
	if o.MaxConcurrent < 0 || o.MaxConcurrent == 1 {
		refuse("MaxConcurrent is %d; give at least 2, or 0 for the default", o.MaxConcurrent)
	}
	if o.Classify != nil && len(o.Rules.Rules) > 0 {
		refuse("Classify and Rules.Rules are both set; keep one of the two")
	}
	if _, err := o.classifier(); err != nil {
		errs = append(errs, err)
	}
	if o.Admitter == nil {
		return errors.Join(append(errs, o.checkDomains())...)
	}
	if len(o.Domains) > 0 || !reflect.DeepEqual(o.Limits, AdmissionLimits{}) {
		refuse("Limits and Domains bind nothing where another Admitter is asked; give them to it")
	}
	return errors.Join(errs...)
}

// checkDomains holds the limits against what a book takes, and the rules against
// the limits.
func (o *AdmissionOptions) checkDomains() error {
	var errs []error
	refuse := func(domain string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("tidemill: admission: domain %q: %w", domain, err))
		}
	}
	refuse(permits.DefaultDomain, o.Limits.Validate())
	seen := map[string]bool{permits.DefaultDomain: true}
	for _, d := range o.Domains {
		refuse(d.Name, permits.CheckDomain(d.Name))
		if seen[d.Name] {
			refuse(d.Name, errors.New("it stands twice; the default domain has its limits in Limits"))
		}
		seen[d.Name] = true
		refuse(d.Name, d.Limits.Validate())
	}
	if found := permits.Uncovered(o.Rules, o.limits()); len(found) > 0 {
		errs = append(errs, found)
	}
	return errors.Join(errs...)
}

// Warnings are what deserves a look in options that are valid: keys that rules make
// of facts, and for which no limit stands. Whoever needs one waits for ever.
func (o *AdmissionOptions) Warnings() []string {
	var warnings []string
	if o.Admitter == nil && o.Classify == nil {
		for _, e := range permits.Unlikely(o.Rules, o.limits()) {
			warnings = append(warnings, e.Error())
		}
	}
	return warnings
}

// limits are those of each domain.
func (o *AdmissionOptions) limits() map[string]admission.Limits {
	limits := map[string]admission.Limits{permits.DefaultDomain: o.Limits}
	for _, d := range o.Domains {
		limits[d.Name] = d.Limits
	}
	return limits
}

// domains are the names that a class may have. Which another Admitter has is its
// own affair.
func (o *AdmissionOptions) domains() []string {
	if o.Admitter != nil {
		return nil
	}
	names := []string{permits.DefaultDomain}
	for _, d := range o.Domains {
		names = append(names, d.Name)
	}
	return names
}

// classifier is the one that runs ask.
func (o *AdmissionOptions) classifier() (permits.Classifier, error) {
	var classify permits.Classifier
	var err error
	if o.Classify != nil {
		classify, err = permits.Partitioned(o.Rules.Partition, o.Classify)
	} else {
		classify, err = permits.Compile(o.Rules)
	}
	if err != nil {
		return nil, err
	}
	return permits.Checked(classify, o.domains()...), nil
}
