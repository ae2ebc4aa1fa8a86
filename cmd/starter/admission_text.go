package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
)

// writeAdmission is a domain for people: its state, then tables of what is in use.
func writeAdmission(out io.Writer, v tidemill.AdmissionView) {
	s := v.Status
	table(out, func(row func(cells ...any)) {
		row("domain", v.Domain)
		row("permits", fmt.Sprintf("%d, %d given since the domain began", s.Permits, v.Grants))
		row("waiting", waitingCount(s))
		if state := stateText(s); state != "" {
			row("state", state)
		}
		row("limits", fmt.Sprintf("version %d", s.Version))
		if changes := changesText(v.Overrides); changes != "" {
			row("changed live", changes)
		}
		if !v.Checked.IsZero() {
			row("as of", stamp(v.Checked))
		}
	})
	_, _ = fmt.Fprintln(out)
	table(out, func(row func(cells ...any)) {
		row("KEY", "USED", "LIMIT", "KEPT", "WAITING")
		row(admission.KeyGlobal, s.Active, s.GlobalLimit, "-", "-")
		for _, k := range s.Agents {
			row(admission.KeyAgentPrefix+k.Name, k.Active, limitText(k), k.Reserved, k.Queued)
		}
		for _, k := range s.Keys {
			row(k.Name, k.Active, limitText(k), k.Reserved, k.Queued)
		}
	})
	writeRates(out, s.Rates)
	if len(s.Flows) > 1 {
		_, _ = fmt.Fprintln(out)
		table(out, func(row func(cells ...any)) {
			row("FLOW", "WEIGHT", "WAITING")
			for _, f := range s.Flows {
				row(orDash(f.Name), f.Weight, f.Queued)
			}
		})
	}
	writeHolders(out, v)
}

func writeRates(out io.Writer, rates []admission.RateStatus) {
	if len(rates) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out)
	table(out, func(row func(cells ...any)) {
		row("RATE", "READY", "LIMIT", "WAITING")
		for _, r := range rates {
			limit := rateText(r.Limit, r.Per, r.Burst)
			if r.Paused {
				limit += ", paused"
			}
			row(r.Name, r.Ready, limit, r.Queued)
		}
	})
}

// writeHolders lists the oldest permits: what is held for too long is among them.
func writeHolders(out io.Writer, v tidemill.AdmissionView) {
	if len(v.Holders) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out)
	table(out, func(row func(cells ...any)) {
		row("HELD BY", "FOR", "KEYS", "REQUEST")
		for _, h := range v.Holders {
			row(ownerText(h.Owner), short(time.Since(h.Since)), unitsText(h.Keys), h.ID)
		}
	})
	if more := v.Status.Permits - len(v.Holders); more > 0 {
		_, _ = fmt.Fprintf(out, "and %s that are younger\n", count(more, "permit"))
	}
}

// table writes rows in columns. What a cell says cannot steer a terminal.
func table(out io.Writer, fill func(row func(cells ...any))) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fill(func(cells ...any) {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = plain(printable(fmt.Sprint(c)))
		}
		_, _ = fmt.Fprintln(w, strings.Join(texts, "\t"))
	})
	_ = w.Flush()
}

func waitingCount(s admission.Status) string {
	if s.MaxQueue == 0 {
		return fmt.Sprintf("%d, nobody may", s.Queued)
	}
	text := fmt.Sprintf("%d of at most %d", s.Queued, s.MaxQueue)
	if s.Claims > 0 {
		text += fmt.Sprintf(", %s that keep room free", count(s.Claims, "wide one"))
	}
	return text
}

// stateText says what holds everything, or a key, up; empty when nothing does.
func stateText(s admission.Status) string {
	var parts []string
	if s.Draining {
		parts = append(parts, "draining")
	}
	if s.Paused {
		parts = append(parts, "everything is paused")
	}
	if len(s.PausedKeys) > 0 {
		parts = append(parts, "paused: "+strings.Join(s.PausedKeys, ", "))
	}
	return strings.Join(parts, "; ")
}

// changesText lists what operators have changed.
func changesText(o admission.Overrides) string {
	var parts []string
	for _, k := range o.Limits {
		parts = append(parts, fmt.Sprintf("limit of %s %d", k.Key, k.Limit))
	}
	for _, r := range o.Rates {
		parts = append(parts, fmt.Sprintf("rate of %s %s", r.Key, rateText(r.Limit, r.Per, r.Burst)))
	}
	return strings.Join(parts, "; ")
}

func limitText(k admission.KeyStatus) string {
	if k.Paused {
		return fmt.Sprintf("%d, paused", k.Limit)
	}
	return fmt.Sprint(k.Limit)
}

func rateText(limit int, per time.Duration, burst int) string {
	text := fmt.Sprintf("%d per %v", limit, per)
	if burst > 0 && burst != limit {
		text += fmt.Sprintf(", burst %d", burst)
	}
	return text
}

// ownerText is who holds or waits; the owner of a request that has ended is not
// remembered.
func ownerText(o admission.Owner) string {
	switch {
	case o.Process != "":
		return "process " + o.Process
	case o.Workflow != "":
		return o.Workflow
	default:
		return "-"
	}
}

func unitsText(list []admission.Units) string {
	texts := make([]string, len(list))
	for i, u := range list {
		texts[i] = u.Key
		if u.Units > 1 {
			texts[i] += fmt.Sprintf(" ×%d", u.Units)
		}
	}
	return orDash(strings.Join(texts, ", "))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// short is a length of time without digits that nobody looks at.
func short(d time.Duration) string {
	if d >= time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
