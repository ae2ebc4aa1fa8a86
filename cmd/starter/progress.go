package main

import (
	"strconv"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// progress says on standard error what has changed since it last looked.
type progress struct {
	say   func(format string, args ...any)
	nodes map[string]graph.NodeRecord
	waits map[graph.Address]string
	asked map[graph.Address]bool // pauses
	note  string                 // seen once; said when it is seen again
	said  string
}

func newProgress(say func(string, ...any)) *progress {
	return &progress{
		say: say, nodes: map[string]graph.NodeRecord{},
		waits: map[graph.Address]string{}, asked: map[graph.Address]bool{},
	}
}

// see takes the next report.
func (p *progress) see(r tidemill.Report) {
	for _, node := range r.Nodes {
		if p.nodes[node.Node] == node {
			continue
		}
		p.nodes[node.Node] = node
		visit := ""
		if node.Visits > 1 {
			visit = "#" + strconv.Itoa(node.Visits)
		}
		p.say("  %-12s %s", node.Node+visit, node.Status)
	}
	for _, waiting := range r.Waiting {
		if r.Note == "" && p.waits[waiting.Address] != waiting.Reason {
			p.waits[waiting.Address] = waiting.Reason
			p.say("  %-12s %s", waiting.Address, reasonText(waiting))
		}
	}
	for _, pause := range r.Pauses {
		if r.Note == "" && !p.asked[pause.ID] {
			p.asked[pause.ID] = true
			p.say("  %-12s open: %s", pause.ID, pauseText(pause))
			p.say("  %-12s answer it with: %s", "", tidemill.ResumeCommand(pause))
		}
	}
	// A run that has just been started does not answer yet; only what lasts is
	// worth a line.
	if r.Note != "" && r.Note == p.note && r.Note != p.said {
		p.said = r.Note
		p.say("  %s", r.Note)
	}
	p.note = r.Note
}
