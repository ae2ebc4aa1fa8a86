package admission_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

const benchQueue = 4_000 // beside what runs; the bound is 4,096

// backlog is a book in which so many wait and every release lets one in.
type backlog struct {
	*desk
	draw    func(i int) admission.Request
	sent    int
	running []admission.Decision
}

func newBacklog(b *testing.B, l admission.Limits, draw func(i int) admission.Request) *backlog {
	b.Helper()
	l.MaxQueue, l.Patience = admission.MaxQueueLength, time.Hour
	l.MaxHold, l.Lease = admission.None, 24*time.Hour
	k := &backlog{desk: setup(b, l), draw: draw}
	for k.Status(k.now).Queued < benchQueue {
		for range 50 {
			k.send()
		}
		k.take(k.Decide(k.now))
	}
	return k
}

func (k *backlog) send() {
	r := k.draw(k.sent)
	r.ID = fmt.Sprint("r", k.sent)
	r.Owner = ownerOf(r.ID)
	k.sent++
	if err := k.Submit(k.now, r); err != nil {
		panic(err)
	}
}

func (k *backlog) take(turn admission.Turn) {
	for _, d := range turn.Decisions {
		if d.Answer == admission.AnswerGranted {
			k.running = append(k.running, d)
		}
	}
}

// hand is one release, and the turn that it makes room in.
func (k *backlog) hand() {
	done := k.running[0]
	k.running = k.running[1:]
	k.Release(k.now, done.ID, done.Token)
	k.now = k.now.Add(time.Millisecond)
	k.take(k.Decide(k.now))
}

// fill brings the queue back to its length.
func (k *backlog) fill(n int) {
	for range n {
		k.send()
	}
	k.take(k.Decide(k.now))
}

// BenchmarkGrant is the cost of a grant with 4,000 waiting: the release that
// makes room, and the turn. At most 10 µs are wanted.
func BenchmarkGrant(b *testing.B) {
	many := func(key string, n, limit int) (list []admission.KeyLimit) {
		for i := range n {
			list = append(list, admission.KeyLimit{Key: fmt.Sprint(key, i), Limit: limit})
		}
		return list
	}
	named := func(what string, flow int) admission.Request {
		r := request("x", what)
		r.Flow = fmt.Sprint("f", flow)
		return r
	}
	for _, bench := range []struct {
		name   string
		limits admission.Limits
		draw   func(i int) admission.Request
	}{
		{"one-agent", admission.Limits{DefaultAgent: 64}, func(int) admission.Request { return request("x", "a") }},
		{"64-agents", admission.Limits{Global: 256, DefaultAgent: 8}, func(i int) admission.Request { return request("x", fmt.Sprint("a", i%64)) }},
		{
			"100-flows",
			admission.Limits{Keys: keys("A=64")},
			func(i int) admission.Request { return named("A=1", i%100) },
		},
		{
			"crossing-keys",
			admission.Limits{Keys: append(many("p", 20, 6), many("r", 20, 6)...)},
			func(i int) admission.Request { return named(fmt.Sprintf("p%d=1,r%d=1", i%20, i/20%20), i%4) },
		},
		{
			"4000-lanes",
			admission.Limits{Keys: append(keys("A=64"), admission.KeyLimit{Key: "p*", Limit: 1})},
			func(i int) admission.Request { return named(fmt.Sprintf("A=1,p%d=1", i%4000), 0) },
		},
		{
			"4000-flows",
			admission.Limits{Keys: keys("A=64")},
			func(i int) admission.Request { return named("A=1", i%4000) },
		},
	} {
		b.Run(bench.name, func(b *testing.B) {
			k := newBacklog(b, bench.limits, bench.draw)
			before := k.State().Token
			for b.Loop() {
				for range 100 {
					k.hand()
				}
				b.StopTimer()
				k.fill(100)
				b.StartTimer()
			}
			grants := k.State().Token - before
			require.GreaterOrEqual(b, int(grants), 90*b.N, "nearly every release must let one in")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(grants), "ns/grant")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkState is the cost of writing and reading a book of 4,000 waiting.
func BenchmarkState(b *testing.B) {
	k := newBacklog(b, admission.Limits{DefaultAgent: 64}, func(int) admission.Request { return request("x", "a") })
	b.Logf("%d bytes", k.State().Size())
	for b.Loop() {
		reborn(b, k.Book)
	}
}
