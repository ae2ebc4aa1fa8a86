package tidemill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// AdmissionExplanation says why a run, or a request for a permit, waits.
type AdmissionExplanation struct {
	ID     string `json:"id"`     // that was asked about
	Answer string `json:"answer"` // the whole in one sentence
	Waits  bool   `json:"waits"`  // something of it waits for a permit
	// Domains that have a book and were asked. Empty: nobody has asked for a permit
	// yet, or no run is under admission at all.
	Domains []string `json:"domains"`
	// Runs are the run of that id and those of its child graphs that wait for a
	// permit, the outermost first. Empty for the id of a request.
	Runs     []AdmissionRun     `json:"runs"`
	Requests []AdmissionRequest `json:"requests"`
	Notes    []string           `json:"notes,omitempty"` // what could not be found out
}

// AdmissionRun is what a run does, as far as admission is concerned.
type AdmissionRun struct {
	ID     string `json:"id"` // workflow id
	RunID  string `json:"run_id"`
	Graph  string `json:"graph"`
	Parent string `json:"parent,omitempty"` // workflow id of the run that started it
	Status Status `json:"status"`
	Does   string `json:"does"` // in words
	// Waiting are the nodes that wait for a permit.
	Waiting []graph.Waiting `json:"waiting"`
	Note    string          `json:"note,omitempty"` // see [Report]
}

// AdmissionRequest is where a request stands in the book of its domain.
type AdmissionRequest struct {
	Domain string `json:"domain"`
	permits.Standing
	// Holders hold units of the key that the request waits for, the oldest first.
	// Unlisted are units of it that younger permits hold: a book names its oldest
	// permits only.
	Holders  []admission.Holder `json:"holders,omitempty"`
	Unlisted int                `json:"unlisted,omitempty"`
}

// ExplainAdmission says why a run waits, with those of its child graphs that wait for
// a permit; or where a request for a permit stands. The id is the workflow id of a
// run, the id of a request, or the name of a process that asks for permits. An empty
// domain means all of them. Of a run that waits for something else, or for nothing, it
// says what the run does instead.
func (c *Client) ExplainAdmission(ctx context.Context, domain, id string) (AdmissionExplanation, error) {
	x := AdmissionExplanation{ID: id, Domains: []string{}, Runs: []AdmissionRun{}, Requests: []AdmissionRequest{}}
	if id == "" {
		return x, &RunError{Type: ErrTypeInvalidAdmission, Message: "the id is empty; give that of a run or of a request"}
	}
	if err := c.family(ctx, &x); err != nil {
		return x, err
	}
	books, err := c.booksFor(ctx, &x, domain)
	if err != nil {
		return x, err
	}
	silent := c.lookUp(ctx, &x, books)
	if ctx.Err() != nil {
		return x, ctx.Err()
	}
	if len(x.Runs) == 0 && len(x.Requests) == 0 && silent != nil {
		return x, silent // it may be known there
	}
	if len(x.Runs) == 0 && len(x.Requests) == 0 {
		return x, &RunError{Type: ErrTypeNotFound, ID: id, Message: unknownToAll(x.Domains)}
	}
	x.conclude()
	return x, nil
}

// unknownToAll says that an id means nothing to anybody.
func unknownToAll(domains []string) string {
	if len(domains) == 0 {
		return "there is no such run, and no request either: nobody has asked for a permit yet"
	}
	return "neither a run nor a request for a permit has this id (asked: " + strings.Join(domains, ", ") +
		"); requests are forgotten some minutes after they ended"
}

func (x *AdmissionExplanation) note(format string, args ...any) {
	x.Notes = append(x.Notes, fmt.Sprintf(format, args...))
}

// booksFor are the books to look into. A run is explained even where there is none.
func (c *Client) booksFor(ctx context.Context, x *AdmissionExplanation, domain string) ([]semaphore, error) {
	domains := []string{domain}
	if domain == "" {
		found, err := c.AdmissionDomains(ctx)
		if err != nil {
			x.note("only the domain %q was asked: %v", permits.DefaultDomain, messageOf(err))
		}
		domains = slices.Compact(slices.Sorted(slices.Values(append(found, permits.DefaultDomain))))
	}
	var books []semaphore
	for _, d := range domains {
		s, err := c.semaphore(ctx, d)
		switch {
		case err == nil:
			books = append(books, s)
		case ErrorType(err) != ErrTypeUnknownDomain:
			return nil, err
		case domain != "" && len(x.Runs) == 0:
			return nil, err
		case domain != "":
			x.note("%s", messageOf(err))
		}
	}
	return books, nil
}

// lookUp adds what the books say, which are asked side by side: one without a worker
// keeps its answer for long. The first error is returned, each is noted.
func (c *Client) lookUp(ctx context.Context, x *AdmissionExplanation, books []semaphore) error {
	names := []string{x.ID}
	for _, r := range x.Runs {
		if r.ID != x.ID {
			names = append(names, r.ID)
		}
	}
	found, errs := make([][]AdmissionRequest, len(books)), make([]error, len(books))
	var asking sync.WaitGroup
	for i, s := range books {
		asking.Go(func() { found[i], errs[i] = c.standings(ctx, s, names) })
	}
	asking.Wait()
	var first error
	for i, s := range books {
		x.Domains = append(x.Domains, s.domain)
		x.Requests = append(x.Requests, found[i]...)
		if errs[i] != nil {
			x.note("domain %q: %v", s.domain, messageOf(errs[i]))
			first = cmp.Or(first, errs[i])
		}
	}
	return first
}

// standings are what one book says of those that have names.
func (c *Client) standings(ctx context.Context, s semaphore, names []string) ([]AdmissionRequest, error) {
	var requests []AdmissionRequest
	held := false
	for _, name := range names {
		var list []permits.Standing
		if err := c.askSemaphore(ctx, s, permits.QueryExplain, &list, name); err != nil {
			return requests, err
		}
		for _, standing := range list {
			requests = append(requests, AdmissionRequest{Domain: s.domain, Standing: standing})
			held = held || standing.Explanation.Used > 0
		}
	}
	if !held {
		return requests, nil
	}
	var view AdmissionView
	if err := c.askSemaphore(ctx, s, permits.QueryStatus, &view); err != nil {
		return requests, err
	}
	for i := range requests {
		requests[i].heldBy(view.Holders)
	}
	return requests, nil
}

// heldBy picks those that hold the key which the request waits for.
func (r *AdmissionRequest) heldBy(holders []admission.Holder) {
	if r.Explanation.Used == 0 {
		return
	}
	r.Unlisted = r.Explanation.Used
	for _, h := range holders {
		for _, u := range h.Keys {
			if u.Key == r.Explanation.Key {
				r.Holders = append(r.Holders, h)
				r.Unlisted -= u.Units
			}
		}
	}
	r.Unlisted = max(r.Unlisted, 0) // the book may have moved on in between
}

// The bounds of looking through a family of runs.
const (
	maxFamily = 100 // runs
	maxSilent = 3   // children that do not answer
)

// family adds the run of the id, and its child graphs that wait for a permit. There
// may be no such run.
func (c *Client) family(ctx context.Context, x *AdmissionExplanation) error {
	var namespace *serviceerror.NamespaceNotFound
	report, err := c.Status(ctx, x.ID)
	if ErrorType(err) == ErrTypeNotFound && !errors.As(err, &namespace) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Runs = append(x.Runs, runOf(report, ""))
	if report.Finished != nil || report.Note != "" {
		return nil
	}
	return c.children(ctx, x)
}

// link is a child graph that is open.
type link struct{ parent, id string }

// children looks through the open child graphs, level by level.
func (c *Client) children(ctx context.Context, x *AdmissionExplanation) error {
	links, err := c.linksOf(ctx, x.ID)
	if err != nil {
		x.note("child graphs were not looked at: %s", messageOf(err))
		return ctx.Err()
	}
	x.Runs[0].begotten(links)
	silent := 0
	for i := 0; i < len(links); i++ {
		if i+1 == maxFamily || silent == maxSilent {
			x.note("of the child graphs only the first %d were looked at; explain one of them to see more", i)
			return nil
		}
		report, err := c.Status(ctx, links[i].id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || report.Note != "" {
			silent++
			x.note("child %q does not answer", links[i].id)
			continue
		}
		run := runOf(report, links[i].parent)
		if report.Finished == nil {
			below, err := c.linksOf(ctx, run.ID)
			if err != nil {
				x.note("the children of %q were not looked at: %s", run.ID, messageOf(err))
			}
			links = append(links, below...)
		}
		if len(run.Waiting) > 0 {
			x.Runs = append(x.Runs, run)
		}
	}
	return nil
}

func (c *Client) linksOf(ctx context.Context, id string) ([]link, error) {
	view, err := c.View(ctx, id)
	if err != nil || view.Run == nil {
		return nil, err
	}
	var links []link
	for _, current := range view.Run.Current {
		if current.Child != "" {
			links = append(links, link{parent: id, id: current.Child})
		}
	}
	return links, nil
}

// runOf is what a report says of admission.
func runOf(r Report, parent string) AdmissionRun {
	run := AdmissionRun{
		ID: r.ID, RunID: r.RunID, Graph: r.Graph, Parent: parent, Status: r.Status, Note: r.Note, Waiting: []graph.Waiting{},
	}
	for _, w := range r.Waiting {
		if AdmissionWait(w) {
			run.Waiting = append(run.Waiting, w)
		}
	}
	run.Does = doing(r, run.Waiting)
	return run
}

// AdmissionWait reports whether what a node waits for is a permit.
func AdmissionWait(w graph.Waiting) bool {
	return w.Reason == "admission" || strings.HasPrefix(w.Reason, "admission:")
}

// doing is what a run does, in words that follow "it".
func doing(r Report, waiting []graph.Waiting) string {
	switch {
	case r.Finished != nil:
		return "has closed: " + string(r.Status)
	case len(waiting) > 0:
		return "waits " + atNodes(waiting)
	case r.Note != "":
		return "is open, but cannot be asked"
	case r.Status == StatusPaused && len(r.Pauses) > 0:
		ids := make([]string, len(r.Pauses))
		for i, p := range r.Pauses {
			ids[i] = string(p.ID)
		}
		return "is paused at " + strings.Join(ids, ", ")
	case len(r.Waiting) > 0:
		return "waits " + atNodes(r.Waiting)
	}
	var active []string
	for _, n := range r.Nodes {
		if n.Status == graph.NodeActive {
			active = append(active, n.Node)
		}
	}
	if len(active) == 0 {
		return "is " + string(r.Status)
	}
	return "is running at " + strings.Join(active, ", ")
}

// begotten adds open children to what a run does, unless it does something else too.
func (r *AdmissionRun) begotten(links []link) {
	if len(links) == 0 || len(r.Waiting) > 0 || r.Status != StatusRunning {
		return
	}
	r.Does += fmt.Sprintf(", in child %q", links[0].id)
	if more := len(links) - 1; more > 0 {
		r.Does += fmt.Sprintf(" and %d more", more)
	}
}

// atNodes lists what nodes wait for; of many, the first.
func atNodes(waiting []graph.Waiting) string {
	const most = 3
	texts := make([]string, 0, most)
	for _, w := range waiting[:min(len(waiting), most)] {
		text := fmt.Sprintf("at %s (%s)", w.Address, w.Reason)
		if w.NextCheck != nil {
			text += ", next check " + w.NextCheck.UTC().Format(time.RFC3339)
		}
		texts = append(texts, text)
	}
	if more := len(waiting) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// messageOf is an error for people, without what it is prefixed with.
func messageOf(err error) string {
	var refused *RunError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}
