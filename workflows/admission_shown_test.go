package workflows_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// meter keeps the metrics of admission as text: name, labels and value.
type meter struct {
	book *meterBook
	tags map[string]string
}

type meterBook struct {
	mu     sync.Mutex
	values map[string]float64
	labels map[string]bool // every label that was ever given, with its value
}

func newMeter() *meter {
	return &meter{book: &meterBook{values: map[string]float64{}, labels: map[string]bool{}}}
}

func (m *meter) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(m.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	return &meter{book: m.book, tags: all}
}

// measured changes one value. Of the labels only ours are kept: the SDK adds its own.
func (m *meter) measured(name string, change func(was float64) float64) {
	if !strings.HasPrefix(name, "tidemill_") {
		return
	}
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(m.tags)) {
		m.book.labels[key+"="+m.tags[key]] = true
		if key == permits.LabelOutcome || key == permits.LabelAgent {
			labels = append(labels, m.tags[key])
		}
	}
	key := strings.TrimSpace(strings.TrimPrefix(name, "tidemill_admission_") + " " + strings.Join(labels, " "))
	m.book.values[key] = change(m.book.values[key])
}

func (m *meter) Counter(name string) client.MetricsCounter {
	return counted(func(n int64) { m.measured(name, func(was float64) float64 { return was + float64(n) }) })
}

func (m *meter) Gauge(name string) client.MetricsGauge {
	return shownAs(func(v float64) { m.measured(name, func(float64) float64 { return v }) })
}

func (m *meter) Timer(name string) client.MetricsTimer {
	return timed(func(time.Duration) { m.measured(name, func(was float64) float64 { return was + 1 }) })
}

func (m *meter) read() map[string]float64 {
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	return maps.Clone(m.book.values)
}

type counted func(int64)

func (c counted) Inc(n int64) { c(n) }

type shownAs func(float64)

func (s shownAs) Update(v float64) { s(v) }

type timed func(time.Duration)

func (t timed) Record(d time.Duration) { t(d) }

func measuredBy(m *meter) func(*hallParts) {
	return func(p *hallParts) {
		p.client = append(p.client, func(o *client.Options) { o.MetricsHandler = m })
	}
}

// The metric set of a scripted run, label by label. No label may come from a request:
// ids and keys are without number.
func TestAdmissionMetrics(t *testing.T) {
	t.Parallel()
	m := newMeter()
	h := newHall(t, admission.Limits{
		Agents: []admission.KeyLimit{{Key: "planner", Limit: 1}}, DefaultAgent: 5,
		Keys: keysOf(admission.KeyLimit{Key: "secret-key", Limit: 1}), Overflow: admission.OverflowQueue,
	}, measuredBy(m))
	o := h.occupant(nil)
	held, waits := o.wants("planner"), o.wants("planner")
	permit := h.submit(held)
	h.ask(waits, o.wants("secret-agent"), o.wants("", oneOf("secret-key")), held) // the last only repeats
	refused := o.wants("planner")
	refused.Overflow = admission.OverflowReject
	h.ask(refused)
	h.release(held.ID, permit.Token)
	h.cancel(waits.ID)
	require.Equal(t, map[string]float64{
		"decisions granted planner": 2, "wait granted planner": 2,
		"decisions queued planner": 1,
		"decisions granted other":  1, "wait granted other": 1,
		"decisions granted none": 1, "wait granted none": 1,
		"decisions concurrency_limit_reached planner": 1, "wait concurrency_limit_reached planner": 1,
		"decisions released planner": 1, "decisions cancelled planner": 1,
		"active": 2, "queued": 0,
	}, labelled(m.read()))
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	require.Contains(t, m.book.labels, "domain="+h.domain)
	for label := range m.book.labels {
		require.NotContains(t, label, "secret")
		require.NotContains(t, label, o.run.GetRunID())
	}
}

// labelled orders the words of each name: outcome, then agent.
func labelled(values map[string]float64) map[string]float64 {
	ordered := map[string]float64{}
	for name, value := range values {
		words := strings.Fields(name)
		if len(words) == 3 {
			words[1], words[2] = words[2], words[1]
		}
		ordered[strings.Join(words, " ")] = value
	}
	return ordered
}

// A book that is too large for the next run gives up the newest of what waits, and
// nothing else; the semaphore lives on.
func TestAdmissionTooLarge(t *testing.T) {
	t.Parallel()
	m := newMeter()
	h := newHall(t, admission.Limits{
		Keys: keysOf(admission.KeyLimit{Key: "A", Limit: 1}), MaxQueue: admission.MaxQueueLength, Overflow: admission.OverflowQueue,
	}, measuredBy(m))
	h.large = true
	h.batch(permits.Call{Cancel: "nobody"})
	begun := h.begun()
	var first, last string
	source, submitted := rand.New(rand.NewPCG(1, 2)), 0
	noise := func() string {
		raw := make([]byte, 720)
		for i := range raw {
			raw[i] = byte(source.Uint32())
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	for h.begun() == begun && submitted < 3_000 {
		calls := []permits.Call{}
		for range 120 {
			submitted++
			last = fmt.Sprint(submitted, noise())
			if first == "" {
				first = last
			}
			calls = append(calls, permits.Call{Submit: &admission.Request{
				ID: last, Owner: admission.Owner{Process: noise()}, Keys: []admission.Units{oneOf("A")}, QueueTimeout: admission.None,
			}})
		}
		h.batch(calls...)
	}
	status := h.view().Status
	require.Equal(t, 1, status.Permits)
	require.Less(t, status.Queued, submitted-1)
	require.Positive(t, m.read()["shed"])
	var standings []permits.Standing
	h.query(h.id(), permits.QueryExplain, &standings, first)
	require.Equal(t, granted, standings[0].Explanation.Answer)
	require.Equal(t, admission.ResultReleased, h.release(first, standings[0].Explanation.Token))
	require.Equal(t, 1, h.view().Status.Permits, "the next is granted")
}
