package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/admission"
)

// show is the same flood under several workers.
type show struct {
	stage *stage
	out   io.Writer
	loads []admission.Load
}

// act is one flood, and what the service saw of it.
type act struct {
	title   string
	options *tidemill.AdmissionOptions

	record admission.Record
	from   time.Duration // when the service went on; all tenants wanted to call then
	why    string        // what the run waits for that was started last
}

// acts are the columns of the table.
func acts() []act {
	oneLine := admission.Options()
	oneLine.Rules.Partition = tidemill.AdmissionPartition{} // all tenants are one flow
	return []act{
		{title: "no limits"},
		{title: "limits", options: oneLine},
		{title: "limits, flows", options: admission.Options()},
	}
}

func (s show) give(ctx context.Context) error {
	s.say("A service takes %d calls at a time and %d a second, and does not defend itself.", admission.MostAtOnce, admission.PerSecond)
	s.say("It hangs for a moment. %s starts %d runs that call it; right behind, %s and %s start %d each. Then it goes on.\n",
		admission.Acme, s.loads[0].Runs, admission.Globex, admission.Initech, s.loads[1].Runs)
	all := acts()
	for i := range all {
		if err := s.play(ctx, &all[i], fmt.Sprintf("act%d", i+1)); err != nil {
			return fmt.Errorf("%s: %w", all[i].title, err)
		}
	}
	s.table(all)
	return s.check(all)
}

// play has one worker meet the flood.
func (s show) play(ctx context.Context, a *act, name string) error {
	stop, err := s.stage.work(ctx, a.options)
	if err != nil {
		return err
	}
	defer stop()
	s.stage.api.Begin()
	release := sync.OnceFunc(s.stage.api.Hold())
	defer release()
	ids, err := admission.Start(ctx, s.stage.runs, name, s.loads)
	if err != nil {
		return err
	}
	if err := s.pile(ctx, a, len(ids)); err != nil {
		return err
	}
	if a.options != nil {
		if a.why, err = s.why(ctx, ids[len(ids)-1]); err != nil {
			return err
		}
	}
	a.from = s.stage.api.Elapsed()
	release()
	if err := admission.Await(ctx, s.stage.runs, ids); err != nil {
		return err
	}
	a.record = s.stage.api.Record()
	s.say("%-13s  %d calls, of which %d before the service went on", a.title, len(a.record.Calls), a.record.Until(a.from))
	if a.why != "" {
		s.say("%-13s  %s", "", a.why)
	}
	return nil
}

// pile waits until every run has called, or waits for a permit.
func (s show) pile(ctx context.Context, a *act, runs int) error {
	return until(ctx, func() (bool, error) {
		piled := len(s.stage.api.Record().Calls)
		if a.options == nil {
			return piled == runs, nil
		}
		view, err := s.stage.runs.AdmissionStatus(ctx, "")
		return piled+view.Status.Queued == runs, err
	})
}

// why is what an operator hears who asks why a run waits.
func (s show) why(ctx context.Context, id string) (answer string, err error) {
	err = until(ctx, func() (bool, error) {
		explanation, err := s.stage.runs.ExplainAdmission(ctx, "", id)
		answer = explanation.Answer
		return err == nil, err
	})
	return answer, err
}

// until looks again and again. A book that nobody has asked yet, or that is too busy to
// answer, is looked at later.
func until(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		switch tidemill.ErrorType(err) {
		case tidemill.ErrTypeUnknownDomain, tidemill.ErrTypeNoWorker:
			ok = false
		default:
			if err != nil {
				return err
			}
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// table prints what the service saw.
func (s show) table(all []act) {
	s.row("\n%-34s", "", all, func(a act) string { return a.title })
	s.row("%-34s", "calls at a time, at most", all, func(a act) string { return fmt.Sprint(a.record.Peak) })
	s.row("%-34s", "calls within a second, at most", all, func(a act) string { return fmt.Sprint(a.record.Fastest()) })
	s.row("%-34s", "calls ahead of the rate, at most", all, func(a act) string {
		return fmt.Sprint(max(0, a.record.Ahead(admission.PerSecond, admission.Burst)))
	})
	for i, tenant := range admission.Tenants() {
		s.row("%-34s", "share of "+tenant+" while all wait", all, func(a act) string { return a.share(i) })
	}
	for i, tenant := range admission.Tenants() {
		s.row("%-34s", "last call of "+tenant+", after", all, func(a act) string {
			last := a.record.Shares(admission.Tenants(), a.from)[i].Last - a.from
			return fmt.Sprintf("%.1f s", max(0, last).Seconds())
		})
	}
}

// few is a number of calls of which a share says nothing.
const few = 9

// share is what a tenant got of the calls while all wanted more.
func (a act) share(tenant int) string {
	total, shares := 0, a.record.Shares(admission.Tenants(), a.from)
	for _, share := range shares {
		total += share.Calls
	}
	if total < few {
		return "–"
	}
	return fmt.Sprintf("%d %%", (100*shares[tenant].Calls+total/2)/total)
}

// check fails when the service was overrun although there were limits.
func (s show) check(all []act) error {
	for _, a := range all {
		ahead := a.record.Ahead(admission.PerSecond, admission.Burst)
		if a.options != nil && (a.record.Peak > admission.MostAtOnce || ahead > 0) {
			return fmt.Errorf("%s: %d calls at a time, %d ahead of the rate", a.title, a.record.Peak, ahead)
		}
	}
	return nil
}

func (s show) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format+"\n", args...) }

// row prints a line of the table.
func (s show) row(format, title string, all []act, cell func(act) string) {
	var line strings.Builder
	fmt.Fprintf(&line, format, title)
	for _, a := range all {
		fmt.Fprintf(&line, "%14s", cell(a))
	}
	s.say("%s", line.String())
}
