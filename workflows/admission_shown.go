package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// shownAtOnce is the largest number of requests with which the details are written
// after each turn. With more it is once a second; leases bring a turn soon enough.
const shownAtOnce = 256

// shown is what a semaphore lets be seen: metrics, and the live details of the UI.
type shown struct {
	meters   meters
	labeller permits.Labeller
	stale    bool // the details say what is no longer so
	written  time.Time
}

// meters are the metrics of a domain. They are silent on replay.
type meters struct {
	active, queued interface{ Update(value float64) }
	drift, shed    interface{ Inc(n int64) }

	of      map[permits.Labels]outcome
	outcome func(labels permits.Labels) outcome
}

// outcome are the metrics of one kind of decision.
type outcome struct {
	decisions interface{ Inc(n int64) }
	wait      interface{ Record(d time.Duration) }
}

func newShown(ctx workflow.Context, domain string, book *admission.Book) shown {
	handler := workflow.GetMetricsHandler(ctx)
	whole := handler.WithTags(map[string]string{permits.LabelDomain: domain})
	return shown{stale: true, labeller: permits.NewLabeller(book.Limits()), meters: meters{
		active: whole.Gauge(permits.MetricActive), queued: whole.Gauge(permits.MetricQueued),
		drift: whole.Counter(permits.MetricDrift), shed: whole.Counter(permits.MetricShed),
		of: map[permits.Labels]outcome{},
		outcome: func(labels permits.Labels) outcome {
			labelled := handler.WithTags(labels.Tags(domain))
			return outcome{labelled.Counter(permits.MetricDecisions), labelled.Timer(permits.MetricWait)}
		},
	}}
}

// relabel takes notice of other limits.
func (s *shown) relabel(book *admission.Book) { s.labeller = permits.NewLabeller(book.Limits()) }

// count counts decisions, and what there is after them.
func (s *shown) count(book *admission.Book, decisions []admission.Decision) {
	s.stale = true
	for _, d := range decisions {
		labels, ok := s.labeller.Of(d)
		if !ok {
			continue
		}
		measured, known := s.meters.of[labels]
		if !known {
			measured = s.meters.outcome(labels)
			s.meters.of[labels] = measured
		}
		measured.decisions.Inc(1)
		if waited, ok := permits.Wait(d); ok {
			measured.wait.Record(waited)
		}
	}
	active, queued := book.Load()
	s.meters.active.Update(float64(active))
	s.meters.queued.Update(float64(queued))
}

// drifted counts counters that were wrong.
func (s *shown) drifted(n int) { s.meters.drift.Inc(int64(n)) }

// shed counts requests that were turned away to make the book smaller.
func (s *shown) shed(book *admission.Book, decisions []admission.Decision) {
	s.count(book, decisions)
	s.meters.shed.Inc(int64(len(decisions)))
}

// show writes the live details. They cost no event.
func (s *shown) show(ctx workflow.Context, book *admission.Book, checked time.Time) {
	active, queued := book.Load()
	if !s.stale || active+queued > shownAtOnce && checked.Sub(s.written) < time.Second {
		return
	}
	s.stale, s.written = false, checked
	workflow.SetCurrentDetails(ctx, admissionDetails(book.Status(checked)))
}

// admissionDetails is a book in Markdown: numbers by key, never requests or owners.
func admissionDetails(status admission.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d permits · %d waiting · limits version %d", status.Permits, status.Queued, status.Version)
	if status.Paused {
		b.WriteString(" · **paused**")
	}
	if status.Draining {
		b.WriteString(" · **draining**")
	}
	b.WriteString("\n\n| key | used | limit | waiting |\n|---|---|---|---|\n")
	fmt.Fprintf(&b, "| %s | %d | %d | |\n", admission.KeyGlobal, status.Active, status.GlobalLimit)
	var rows []string
	add := func(key, used, limit string, queued int, paused bool) {
		if paused {
			limit += ", paused"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %d |\n", escape(key), used, limit, queued))
	}
	for _, k := range status.Agents {
		add(admission.KeyAgentPrefix+k.Name, fmt.Sprint(k.Active), fmt.Sprint(k.Limit), k.Queued, k.Paused)
	}
	for _, k := range status.Keys {
		add(k.Name, fmt.Sprint(k.Active), fmt.Sprint(k.Limit), k.Queued, k.Paused)
	}
	for _, r := range status.Rates {
		add(r.Name, fmt.Sprintf("%d ready", r.Ready), fmt.Sprintf("%d per %s", r.Limit, r.Per), r.Queued, r.Paused)
	}
	for i, row := range rows {
		if b.Len()+len(row) > maxDetails-maxCell {
			fmt.Fprintf(&b, "| %d more | | | |\n", len(rows)-i)
			break
		}
		b.WriteString(row)
	}
	return b.String() + lastLine
}
