package permits

import (
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/admission"
)

// gauges measure a book in a process, by the names and labels that the semaphores
// use.
type gauges struct {
	domain   string
	handler  client.MetricsHandler // nil: nobody measures
	labeller Labeller
}

func newGauges(domain string, handler client.MetricsHandler, limits admission.Limits) gauges {
	return gauges{domain: domain, handler: handler, labeller: NewLabeller(limits)}
}

// count counts decisions, and what there is after them.
func (g *gauges) count(book *admission.Book, decisions []admission.Decision) {
	if g.handler == nil {
		return
	}
	for _, d := range decisions {
		labels, first := g.labeller.Of(d)
		if !first {
			continue
		}
		labelled := g.handler.WithTags(labels.Tags(g.domain))
		labelled.Counter(MetricDecisions).Inc(1)
		if waited, ended := Wait(d); ended {
			labelled.Timer(MetricWait).Record(waited)
		}
	}
	active, queued := book.Load()
	whole := g.handler.WithTags(map[string]string{LabelDomain: g.domain})
	whole.Gauge(MetricActive).Update(float64(active))
	whole.Gauge(MetricQueued).Update(float64(queued))
}
