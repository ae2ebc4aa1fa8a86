package main

import (
	"fmt"
	"io"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
)

// writeExplanation answers for people: the sentence first, then what it rests on.
func writeExplanation(out io.Writer, x tidemill.AdmissionExplanation) {
	_, _ = fmt.Fprintf(out, "%s\n\n", plain(printable(x.Answer)))
	now := time.Now()
	table(out, func(row func(cells ...any)) {
		for _, r := range x.Runs {
			explainRun(row, r)
		}
		for i := range x.Requests {
			explainRequest(row, &x.Requests[i], now)
		}
		for _, note := range x.Notes {
			row("note", note)
		}
	})
}

func explainRun(row func(cells ...any), r tidemill.AdmissionRun) {
	if r.Parent == "" {
		row("run", fmt.Sprintf("%s (%s), %s", r.ID, r.Graph, r.Status))
	} else {
		row("child", fmt.Sprintf("%s (%s) of %s, %s", r.ID, r.Graph, r.Parent, r.Status))
	}
	for _, w := range r.Waiting {
		row("waiting", waitingText(w))
	}
	if len(r.Waiting) == 0 {
		row("", "it "+r.Does)
	}
	if r.Note != "" {
		row("", r.Note)
	}
}

func explainRequest(row func(cells ...any), r *tidemill.AdmissionRequest, now time.Time) {
	e := &r.Explanation
	row("request", e.ID)
	row("", fmt.Sprintf("of %s, in domain %s", ownerText(r.Owner), r.Domain))
	if e.Answer != admission.AnswerQueued {
		row("", r.Why())
		if e.Answer == admission.AnswerGranted {
			explainPermit(row, e)
		}
		return
	}
	row("waits for", r.Why())
	row("since", fmt.Sprintf("%s, for %s", stamp(e.Since), short(max(now.Sub(e.Since), 0))))
	row("place", placeText(e))
	if !e.Next.IsZero() {
		row("next check", stamp(e.Next))
	}
	if !e.Deadline.IsZero() {
		row("until", stamp(e.Deadline))
	}
	for _, h := range r.Holders {
		row("held by", holderText(h, e.Key))
	}
	if r.Unlisted > 0 {
		row("held by", fmt.Sprintf("younger permits: %s", count(r.Unlisted, "unit")))
	}
}

// explainPermit says until when a permit is good.
func explainPermit(row func(cells ...any), e *admission.Explanation) {
	text := fmt.Sprintf("token %d, lease until %s", e.Token, stamp(e.Lease))
	if !e.Until.IsZero() {
		text += ", held no longer than " + stamp(e.Until)
	}
	row("", text)
}

// placeText is where it stands in the order.
func placeText(e *admission.Explanation) string {
	text := "in no lane"
	if e.Place > 0 {
		text = fmt.Sprintf("%d in its lane", e.Place)
	}
	if e.Flow != "" {
		text += " of flow " + e.Flow
	}
	if e.Claim > 0 {
		text += fmt.Sprintf(", claim %d of those that have waited long", e.Claim)
	}
	if e.Keeps {
		text += ", room is kept for it"
	}
	return text
}

func holderText(h admission.Holder, key string) string {
	units := 0
	for _, u := range h.Keys {
		if u.Key == key {
			units = u.Units
		}
	}
	return fmt.Sprintf("%s for %s, %s (%s)", ownerText(h.Owner), short(time.Since(h.Since)), count(units, "unit"), h.ID)
}
