package tidemill

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// StartOptions say which run to start.
type StartOptions struct {
	Graph string // the graph's id. Zero means the Spec's.
	// Spec is a whole document, YAML or JSON, to run instead of the worker's own
	// graph of that name. The worker must allow it (InlineSpecs) unless it has
	// the very same graph. Zero means the worker's.
	Spec     []byte
	SpecName string // stands in the diagnostics of Spec, such as its file name
	// Input is the run's input: anything that JSON writes as an object, or JSON
	// text as json.RawMessage, whose numbers stay exact. Zero means {}.
	Input     any
	ID        string // workflow id. Zero means <graph>-<random>.
	TaskQueue string // Zero means the client's.
	// Deadline is the budget of running time. Zero means the graph's; -1 is none.
	Deadline time.Duration
	MaxSteps int  // Zero means the graph's.
	Lane     Lane // Zero means a lane of the run's own.
}

// Run names a run that was started.
type Run struct {
	ID          string `json:"id"`     // workflow id
	RunID       string `json:"run_id"` // of its first execution
	Graph       string `json:"graph"`
	Fingerprint string `json:"fingerprint,omitempty"` // where the document is known here
	// Warnings are what is strange and no reason to start nothing: a Spec that has
	// the revision of the client's own graph and another content.
	Warnings []string `json:"warnings,omitempty"`
}

// Start starts a run and returns when the server has taken it. Everything that
// can be known here is checked before that: the options, the document when it
// is the Spec or in the client's App, and the input against it. Then nothing is
// started, and the error is a [*RunError], with [graph.Diagnostics] inside for a
// document. A document that only the worker knows is checked in the run's first
// task, before any node.
//
// An id that belongs to an open run gives an [*AlreadyExistsError]; the id of a
// closed run may be used again.
func (c *Client) Start(ctx context.Context, o StartOptions) (Run, error) {
	s, err := c.check(o)
	if err != nil {
		return Run{}, err
	}
	return c.launch(ctx, s)
}

// launch starts what has been checked.
func (c *Client) launch(ctx context.Context, s start) (Run, error) {
	options := client.StartWorkflowOptions{
		ID: s.id, TaskQueue: s.queue, Memo: s.memo(),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            s.summary(), StaticDetails: s.details(),
	}
	if c.has(ctx, activities.AttributeGraph) {
		key := temporal.NewSearchAttributeKeyKeyword(activities.AttributeGraph)
		options.TypedSearchAttributes = temporal.NewSearchAttributes(key.ValueSet(s.graph))
	}
	arguments, err := s.arguments()
	if err != nil {
		return Run{}, err
	}
	execution, err := c.temporal.ExecuteWorkflow(ctx, options, s.graph, arguments...)
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &started):
		return Run{}, &AlreadyExistsError{ID: s.id, RunID: started.RunId}
	case err != nil:
		return Run{}, edgeErrorOf(s.id, err)
	}
	run := Run{ID: execution.GetID(), RunID: execution.GetRunID(), Graph: s.graph, Warnings: s.warnings}
	if s.linked {
		run.Fingerprint = s.fingerprint
	}
	return run, nil
}

// start is a start that passed every check.
type start struct {
	graph, id, queue string
	document         *graph.Document // nil: only the worker knows it
	fingerprint      string          // of document, as far as it is known here
	linked           bool            // so that fingerprint is the worker's too
	input            json.RawMessage // canonical object
	options          json.RawMessage // nil: none
	earlier          *earlier        // the run it takes up; nil: it begins at the beginning
	warnings         []string
}

// check is the one place where starts are validated.
func (c *Client) check(o StartOptions) (start, error) {
	s := start{graph: o.Graph, id: o.ID, queue: o.TaskQueue}
	compiled, err := c.document(o)
	if err != nil {
		return s, err
	}
	if s.know(compiled); compiled != nil {
		s.warnings = c.revisions(compiled)
	}
	if s.queue == "" {
		s.queue = c.options.TaskQueue
	}
	if s.id == "" {
		s.id = s.graph + "-" + strings.ToLower(rand.Text()[:12])
	}
	if s.input, err = checkedInput(compiled, o.Input); err != nil {
		return s, err
	}
	s.options, err = runOptions(o)
	if err == nil {
		err = checkID(s.id)
	}
	return s, err
}

// know takes down which graph will run.
func (s *start) know(compiled *graph.Compiled) {
	if compiled != nil {
		s.document, s.fingerprint, s.linked = compiled.Document, compiled.Fingerprint, compiled.Linked()
		s.graph = compiled.Document.ID
	}
}

// document is what will run, as far as it is known here.
func (c *Client) document(o StartOptions) (*graph.Compiled, error) {
	catalogue, err := c.known()
	if err != nil {
		return nil, err
	}
	if o.Spec == nil {
		if !graph.ValidID(o.Graph) {
			return nil, refused("", graph.Failf(graph.ErrTypeUnknownGraph,
				"%q is not the id of a graph; ids are like order-review", o.Graph))
		}
		compiled, _ := catalogue.Get(o.Graph)
		return compiled, nil
	}
	var callbacks map[string]int
	if c.options.App != nil {
		callbacks = c.options.App.registry.Callbacks()
	}
	compiled, diagnostics := graph.Compile(o.SpecName, o.Spec, graph.CompileOptions{Callbacks: callbacks})
	if compiled != nil {
		compiled, diagnostics = linkKnown(compiled, catalogue)
	}
	if err := diagnostics.Err(); err != nil {
		return nil, &RunError{Type: graph.ErrTypeInvalidDocument, Message: err.Error(), Err: err}
	}
	if o.Graph != "" && o.Graph != compiled.Document.ID {
		return nil, refused("", graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the document's id is %q, not %q; leave out the name or correct it", compiled.Document.ID, o.Graph))
	}
	return compiled, nil
}

// revisions warns of a document that has the revision of another one known here.
func (c *Client) revisions(compiled *graph.Compiled) []string {
	catalogue, err := c.known()
	if err != nil || !compiled.Linked() {
		return nil
	}
	own, _ := catalogue.Get(compiled.Document.ID)
	if warning := graph.RevisionWarning(own, compiled); warning != "" {
		return []string{warning}
	}
	return nil
}

// linkKnown links a document against the graphs that are known here. Those it
// names beside them are the worker's, which links it again.
func linkKnown(compiled *graph.Compiled, catalogue *activities.Catalogue) (*graph.Compiled, graph.Diagnostics) {
	linked, found := graph.Link(compiled, func(id string) *graph.Compiled {
		known, _ := catalogue.Get(id)
		return known
	})
	found = slices.DeleteFunc(found, func(d graph.Diagnostic) bool { return d.Code == graph.ErrTypeUnknownGraph })
	if linked == nil && !found.HasErrors() {
		return compiled, found
	}
	return linked, found
}

// checkedInput is the input in canonical form, held against the graph's schema
// where that is known.
func checkedInput(compiled *graph.Compiled, input any) (json.RawMessage, error) {
	raw := json.RawMessage("{}")
	if input != nil {
		var err error
		if raw, err = value.Marshal(input); err != nil {
			return nil, refused("", graph.Failf(graph.ErrTypeInputSchema, "the input is not JSON: %v", err))
		}
	}
	if string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	switch {
	case len(raw) > maxLimit:
		return nil, refused("", graph.Failf(graph.ErrTypeStateTooLarge,
			"the input has %d bytes; a run takes at most %d: pass a reference to large data", len(raw), maxLimit))
	case compiled != nil:
		canonical, failure := graph.CheckInput(compiled.Document, raw)
		if failure != nil {
			return nil, refused("", failure)
		}
		return canonical, nil
	case value.KindOf(raw) != value.KindObject:
		return nil, refused("", graph.Failf(graph.ErrTypeInputSchema,
			"the input of a run is an object, such as {\"order\":\"7\"}; this is %s", value.KindOf(raw)))
	}
	return raw, nil
}

// runOptions is the second payload of a run; nil when it would say nothing.
func runOptions(o StartOptions) (json.RawMessage, error) {
	if o.Deadline < -1 {
		return nil, refused("", graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the deadline is %v; give a length of time, or -1 for none", o.Deadline))
	}
	options := graph.RunOptions{
		Spec: specPayload(o.Spec), Deadline: graph.Duration(o.Deadline), MaxSteps: o.MaxSteps, Lane: o.Lane,
	}
	raw, err := value.Marshal(options)
	if err != nil {
		return nil, refused("", graph.Failf(graph.ErrTypeInvalidRunOptions, "%v", err))
	}
	if _, failure := graph.ParseRunOptions(raw); failure != nil {
		return nil, refused("", failure)
	}
	if string(raw) == "{}" {
		return nil, nil
	}
	return raw, nil
}

// specPayload carries a document as JSON text, so that the worker's diagnostics
// have the author's lines.
func specPayload(spec []byte) json.RawMessage {
	if spec == nil {
		return nil
	}
	return value.AppendString(nil, string(spec))
}

// maxWorkflowID is the longest workflow id that servers take.
const maxWorkflowID = 1000

func checkID(id string) error {
	if len(id) > maxWorkflowID || !utf8.ValidString(id) {
		return refused("", graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the id has %d bytes; at most %d bytes of UTF-8 are taken", len(id), maxWorkflowID))
	}
	return nil
}

// arguments are the payloads of the run.
func (s start) arguments() ([]any, error) {
	input, err := activities.Plain(s.input)
	if err != nil || s.options == nil {
		return []any{input}, err
	}
	options, err := activities.Plain(s.options)
	return []any{input, options}, err
}
