package activities

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// ParseChildStart reads the third argument of a run that another one started,
// its values canonical; nil when there is none. The error is a [graph.Failure] of the
// type invalid_run_options, or [ErrNewer].
//
// A field that is not known here is passed over, for the parent may be run by a worker
// of a later release; what must not be passed over comes with a higher version.
func ParseChildStart(raw json.RawMessage) (*graph.ChildStart, error) {
	if len(raw) == 0 || value.KindOf(raw) == value.KindNull {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	var start graph.ChildStart
	err := json.Unmarshal(raw, &start)
	if err == nil && start.Version > graph.ChildStartVersion {
		return nil, fmt.Errorf("%w: what the run inherits has version %d, and this one reads up to %d",
			ErrNewer, start.Version, graph.ChildStartVersion)
	}
	if err == nil {
		err = checkChildStart(&start)
	}
	if err != nil {
		return nil, graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the third argument of a run is what it inherits from the run that starts it: %v", err)
	}
	return &start, nil
}

// checkChildStart refuses what no run would hand to its child.
func checkChildStart(s *graph.ChildStart) error {
	switch {
	case s.Fingerprint == "" || s.Root == "" || s.Lineage == "":
		return errors.New("fingerprint, root and lineage must be given")
	case s.MaxSteps < 0 || s.Left < 0 || s.Timeout < graph.None || s.Deadline < graph.None:
		return errors.New("a budget is negative")
	}
	if _, err := graph.ParseAddress(string(s.Address)); err != nil {
		return err
	}
	if s.Redriven != nil {
		if failure := s.Redriven.Canonicalize(); failure != nil {
			return failure
		}
	}
	for _, document := range s.Documents {
		if document == nil {
			return errors.New("documents holds null")
		}
	}
	if s.Map == nil {
		return nil
	}
	var err error
	if s.Map.Input, err = value.Canonical(s.Map.Input); err != nil {
		return fmt.Errorf("map.input: %w", err)
	}
	if s.Map.Items, err = value.Canonical(s.Map.Items); err != nil {
		return fmt.Errorf("map.items: %w", err)
	}
	if _, failure := graph.ListItems(s.Map.Items); failure != nil {
		return fmt.Errorf("map.items %s", failure.Message)
	}
	return nil
}

// ParseChildReport reads what a child says to the run that started it, its values
// canonical. Every pause in it is the child's or of a run below it. A field that is
// not known here is passed over: the child may be run by a worker of a later release.
func ParseChildReport(raw json.RawMessage) (graph.ChildReport, error) {
	var report graph.ChildReport
	if err := json.Unmarshal(raw, &report); err != nil {
		return report, err
	}
	if _, err := graph.ParseAddress(string(report.Address)); err != nil {
		return report, err
	}
	for i := range report.Pauses {
		p := &report.Pauses[i]
		if !below(p.ID, report.Address) || p.WorkflowID == "" || p.Digest == "" {
			return report, fmt.Errorf("pause %q is none of child %s", p.ID, report.Address)
		}
		p.Show, p.ResumeSchema = canonical(p.Show), canonical(p.ResumeSchema)
	}
	for _, id := range report.Closed {
		if !below(id, report.Address) {
			return report, fmt.Errorf("pause %q is none of child %s", id, report.Address)
		}
	}
	for _, reply := range report.Replies {
		if reply.Request == "" {
			return report, errors.New("a reply names no request")
		}
	}
	return report, nil
}

// below reports whether an address is inside of what another one names.
func below(id, above graph.Address) bool {
	if _, err := graph.ParseAddress(string(id)); err != nil {
		return false
	}
	return len(id) > len(above)+1 && id[:len(above)+1] == above+"/"
}

// ParseForwardedAnswer reads an answer that a run hands to its child, its input
// canonical. Whether it fits is for the child to check, whoever says otherwise.
func ParseForwardedAnswer(raw json.RawMessage) (graph.ForwardedAnswer, error) {
	var forwarded graph.ForwardedAnswer
	if err := json.Unmarshal(raw, &forwarded); err != nil {
		return forwarded, err
	}
	if forwarded.Request == "" || forwarded.Answer.PauseID == "" {
		return forwarded, errors.New("request and answer.pause_id must be given")
	}
	forwarded.Answer.Input, forwarded.Answer.Checked = canonical(forwarded.Answer.Input), false
	if forwarded.Answer.Via != "update" {
		forwarded.Answer.Via = "signal"
	}
	return forwarded, nil
}
