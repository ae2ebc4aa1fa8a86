package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

// people are those who answer a run and cancel it, as its case says.
type people struct {
	runs     *tidemill.Client
	id       string
	scenario tidemilltest.Scenario
	want     *tidemilltest.Result

	sent     []bool // by answer
	opened   []tidemilltest.Pause
	answered []tidemilltest.Answered
}

// attend looks at the run until it stands where it should: ended, or paused with all
// said.
func (p *people) attend(ctx context.Context) (tidemill.Report, error) {
	p.sent = make([]bool, len(p.scenario.Answers))
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		report, err := p.runs.Status(ctx, p.id)
		switch {
		case ctx.Err() != nil:
			return report, fmt.Errorf("trial: the run is %s, and should be %s", report.Status, p.want.Status)
		case err != nil:
			return report, err
		case report.Finished != nil:
			return report, nil
		}
		said, err := p.look(ctx, report)
		if err != nil {
			return report, err
		}
		if !said && report.Status == tidemill.StatusPaused && p.want.Status == graph.StatusPaused && len(p.opened) >= len(p.want.Pauses) {
			return report, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// look sees new pauses and says what there is to say to them; it reports whether
// something was said.
func (p *people) look(ctx context.Context, report tidemill.Report) (bool, error) {
	said := false
	for _, open := range report.Pauses {
		known := slices.ContainsFunc(p.opened, func(o tidemilltest.Pause) bool { return o.ID == open.ID })
		if known || open.Digest == "" { // while no worker answers, only its name is known
			continue
		}
		p.opened = append(p.opened, tidemilltest.Pause{OpenPause: open})
		if when := p.scenario.Cancel.When; when != "" && tidemilltest.Names(when, open) {
			return true, p.runs.Cancel(ctx, p.id, p.scenario.Cancel.Reason)
		}
		p.answer(ctx, open)
		said = true
	}
	return said, nil
}

// answer sends the answers to a pause, and to any pause the first that names none.
func (p *people) answer(ctx context.Context, open graph.OpenPause) {
	for i, a := range p.scenario.Answers {
		if p.sent[i] || a.Pause != "" && !tidemilltest.Names(a.Pause, open) {
			continue
		}
		p.sent[i] = true
		for range max(a.Times, 1) {
			_, err := p.runs.Resume(ctx, p.id, tidemill.ResumeOptions{
				PauseID: string(open.ID), Input: a.Input, Actor: a.Actor, Note: a.Note, Wait: patience,
			})
			verdict := tidemilltest.Accepted
			if err != nil {
				verdict = tidemill.ErrorType(err)
			}
			p.answered = append(p.answered, tidemilltest.Answered{Pause: a.Pause, Verdict: verdict})
		}
		if a.Pause == "" {
			return
		}
	}
}
