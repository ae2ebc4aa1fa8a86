package firetest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// recorder keeps what is measured about admission, label by label.
type recorder struct {
	*recorded
	tags map[string]string
}

type recorded struct {
	mu     sync.Mutex
	counts map[string]int64 // name and labels, of counters and timers
	labels map[string]bool  // names of labels
	gauges map[string]float64
}

func newRecorder() *recorder {
	return &recorder{recorded: &recorded{counts: map[string]int64{}, labels: map[string]bool{}, gauges: map[string]float64{}}}
}

// meter is one metric.
type meter struct {
	*recorded
	key string // empty: it is none of ours
}

func (m meter) Inc(n int64) { m.count(n) }

func (m meter) Record(time.Duration) { m.count(1) }

func (m meter) count(n int64) {
	if m.key == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[m.key] += n
}

func (m meter) Update(v float64) {
	if m.key == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gauges[m.key] = v
}

func (r *recorder) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(r.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	return &recorder{recorded: r.recorded, tags: all}
}

func (r *recorder) of(name string) meter {
	if !strings.HasPrefix(name, "tidemill_admission") {
		return meter{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := []string{strings.TrimPrefix(name, "tidemill_admission_")}
	for _, label := range slices.Sorted(maps.Keys(r.tags)) {
		r.labels[label] = true
		if label == permits.LabelAgent || label == permits.LabelOutcome {
			key = append(key, r.tags[label])
		}
	}
	return meter{r.recorded, strings.Join(key, " ")}
}

func (r *recorder) Counter(name string) client.MetricsCounter { return r.of(name) }

func (r *recorder) Gauge(name string) client.MetricsGauge { return r.of(name) }

func (r *recorder) Timer(name string) client.MetricsTimer { return r.of(name) }

func (r *recorder) seen() (counts map[string]int64, gauges map[string]float64, labels []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts = maps.Clone(r.counts)
	maps.DeleteFunc(counts, func(_ string, n int64) bool { return n == 0 })
	return counts, maps.Clone(r.gauges), slices.Sorted(maps.Keys(r.labels))
}

// Issue: the metric set of a scripted run, label by label. A label that is an id or a
// key would be a series for each run.
func TestMetricsOfAScriptedRun(t *testing.T) {
	t.Parallel()
	metrics := newRecorder()
	limits := long(tidemill.AdmissionLimits{Agents: []admission.KeyLimit{{Key: "a", Limit: 1}}, Keys: []admission.KeyLimit{{Key: "k", Limit: 1}}})
	c := open(t, hallParts{limits: limits, client: func(o *client.Options) { o.MetricsHandler = metrics }}).clerk()
	first, second := c.asks("x", flowing("a", "")), c.asks("x", flowing("a", ""))
	c.all(first)                                                                                           // granted a
	c.all(second)                                                                                          // queued a
	c.all(second)                                                                                          // the same again, which counts nothing
	c.all(c.asks("x", func(r *admission.Request) { r.Agent, r.Overflow = "a", admission.OverflowReject })) // rejected a
	c.all(c.asks("x", flowing(fmt.Sprint("made-up-", c.number), "")))                                      // granted other
	c.all(c.asks("x", func(r *admission.Request) { r.Keys = []admission.Units{{Key: "k"}} }))              // granted none
	c.all(c.asks("x", func(r *admission.Request) { r.Keys = []admission.Units{{Key: "unknown"}} }))        // infeasible none
	c.all(c.asks("x", func(r *admission.Request) { r.Agent, r.QueueTimeout = "a", 100*time.Millisecond })) // queued a, late a
	cancelled := c.asks("x", flowing("a", ""))
	c.holds(3, 1)                                                                                        // the late one is gone
	c.all(cancelled)                                                                                     // queued a
	require.NoError(t, c.combiner.Cancel(t.Context(), permits.Hold{Domain: c.domain, ID: cancelled.ID})) // cancelled a
	require.NoError(t, c.combiner.Flush(t.Context(), c.domain, cancelled.ID))
	c.look()
	c.release(func(h admission.Holder) bool { return h.ID == first.ID }) // released a, granted a
	c.gets(second)
	c.holds(3, 0)

	counts, gauges, labels := metrics.seen()
	require.Equal(t, map[string]int64{
		"decisions a granted": 2, "decisions a queued": 3, "decisions a concurrency_limit_reached": 1,
		"decisions a queue_deadline_exceeded": 1, "decisions a cancelled": 1, "decisions a released": 1,
		"decisions other granted": 1, "decisions none granted": 1, "decisions none infeasible": 1,
		"wait a granted": 2, "wait a concurrency_limit_reached": 1, "wait a queue_deadline_exceeded": 1, "wait a cancelled": 1,
		"wait other granted": 1, "wait none granted": 1, "wait none infeasible": 1,
	}, counts)
	require.Equal(t, map[string]float64{"active": 3, "queued": 0}, gauges)
	require.Subset(t, []string{
		permits.LabelAgent, permits.LabelDomain, permits.LabelOutcome, "activity_type", "client_name", "namespace", "task_queue", "worker_type", "workflow_type", // the SDK's own
	}, labels)
}
