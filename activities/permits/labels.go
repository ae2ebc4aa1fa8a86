package permits

import (
	"time"

	"github.com/tidemill/tidemill/admission"
)

// The metrics of admission, and their labels. Dashboards know them.
const (
	MetricDecisions = "tidemill_admission_decisions" // counter: domain, outcome, agent
	MetricWait      = "tidemill_admission_wait"      // timer: domain, outcome, agent
	MetricActive    = "tidemill_admission_active"    // gauge: domain
	MetricQueued    = "tidemill_admission_queued"    // gauge: domain
	MetricDrift     = "tidemill_admission_drift"     // counter: domain. Counters of a book that were wrong.
	MetricShed      = "tidemill_admission_shed"      // counter: domain. Requests turned away because the state was too large.

	LabelDomain  = "domain"
	LabelOutcome = "outcome"
	LabelAgent   = "agent"

	AgentNone  = "none"  // the request names no agent
	AgentOther = "other" // the limits do not name its agent
)

// Labels are the labels of one decision, besides the domain. Their number is
// bounded: an agent is named only if the limits name it, ids and keys never.
type Labels struct {
	Outcome string
	Agent   string
}

// Tags are the labels as a metrics handler takes them.
func (l Labels) Tags(domain string) map[string]string {
	return map[string]string{LabelDomain: domain, LabelOutcome: l.Outcome, LabelAgent: l.Agent}
}

// Labeller gives decisions their labels.
type Labeller struct{ agents map[string]bool }

// NewLabeller knows the agents that the limits name.
func NewLabeller(l admission.Limits) Labeller {
	agents := make(map[string]bool, len(l.Agents))
	for _, a := range l.Agents {
		agents[a.Key] = true
	}
	return Labeller{agents: agents}
}

// Of are the labels of a decision; not ok if it only repeats an earlier one.
func (l Labeller) Of(d admission.Decision) (labels Labels, ok bool) {
	labels = Labels{Outcome: string(d.Answer), Agent: AgentOther}
	switch {
	case d.Agent == "":
		labels.Agent = AgentNone
	case l.agents[d.Agent]:
		labels.Agent = d.Agent
	}
	return labels, !d.Repeated
}

// Wait is how long the decision was waited for; not ok if it does not end a wait.
func Wait(d admission.Decision) (waited time.Duration, ok bool) {
	ends := d.Answer == admission.AnswerGranted || d.Final() && d.Token == 0
	return d.Waited, ends && !d.Repeated
}
