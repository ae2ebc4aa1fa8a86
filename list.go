package tidemill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// DefaultListLimit is how many runs a list has at most, unless it says
// otherwise.
const DefaultListLimit = 50

// maxPage is how many runs are asked for at a time.
const maxPage = 200

// ListOptions say which runs to list.
type ListOptions struct {
	Graph  string // id of the graph. Zero means all, which needs TidemillGraph.
	Status Status // Zero means all. Paused and running need TidemillStatus.
	Limit  int    // at most so many runs. Zero means [DefaultListLimit].
}

// Listed is a run as a list shows it: what the server knows of it, without
// asking the run. The server learns of changes a moment after they happen.
type Listed struct {
	ID    string `json:"id"` // workflow id
	RunID string `json:"run_id"`
	Graph string `json:"graph"`
	// Status is failed, not timed_out, for a run whose graph's deadline has
	// passed: the server does not tell the two apart.
	Status   Status          `json:"status"`
	Started  time.Time       `json:"started"`
	Finished *time.Time      `json:"finished"`
	Waiting  []graph.Address `json:"waiting"` // ids of open pauses, at most 20
}

// List is what [Client.List] gave.
type List struct {
	Runs []Listed `json:"runs"`
	More bool     `json:"more"` // there are others, beyond the limit
	// Missing are the search attributes that the namespace lacks: without
	// TidemillStatus a paused run is listed as running, and without
	// TidemillWaiting its pauses are left out.
	Missing []string `json:"missing_search_attributes"`
}

// List lists runs: the open ones, the youngest first, then the closed ones, the
// last closed first. A namespace without the search attributes that a list needs
// gives an error of type no_search_attribute, which says how to add them.
func (c *Client) List(ctx context.Context, o ListOptions) (List, error) {
	namespace, err := c.Namespace(ctx)
	if err != nil {
		return List{}, err
	}
	have, err := usableAttributes(ctx, c.temporal, namespace)
	if err != nil {
		return List{}, err
	}
	query, err := listQuery(o, have, namespace)
	if err != nil {
		return List{}, err
	}
	if o.Limit <= 0 {
		o.Limit = DefaultListLimit
	}
	list := List{Runs: []Listed{}, Missing: missing(have, activities.AttributeGraph, activities.AttributeStatus, activities.AttributeWaiting)}
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, Query: query}
	for {
		request.PageSize = int32(min(o.Limit+1-len(list.Runs), maxPage)) //nolint:gosec // at most maxPage
		page, err := c.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return List{}, edgeError(err)
		}
		for _, info := range page.GetExecutions() {
			if len(list.Runs) == o.Limit {
				list.More = true
				return list, nil
			}
			list.Runs = append(list.Runs, listed(info))
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return list, nil
		}
	}
}

// listQuery is the visibility query of a list. A run's workflow type is its
// graph, so one graph's runs are found without any attribute.
func listQuery(o ListOptions, have []string, namespace string) (string, error) {
	terms := []string{`ExecutionStatus != "ContinuedAsNew"`}
	var needed []string
	switch {
	case o.Graph == "":
		needed = append(needed, activities.AttributeGraph)
		terms = append(terms, activities.AttributeGraph+" IS NOT NULL")
	case !graph.ValidID(o.Graph):
		return "", refused("", graph.Failf(graph.ErrTypeUnknownGraph, "%q is not the id of a graph; ids are like order-review", o.Graph))
	default:
		terms = append(terms, fmt.Sprintf("WorkflowType = %q", o.Graph))
	}
	if o.Status != "" {
		term, known := statusTerm(o.Status)
		if !known {
			return "", refused("", graph.Failf(graph.ErrTypeInvalidRunOptions,
				"%q is no status; use running, paused, completed, failed, timed_out or cancelled", o.Status))
		}
		if strings.Contains(term, activities.AttributeStatus) {
			needed = append(needed, activities.AttributeStatus)
		}
		terms = append(terms, term)
	}
	if lacking := missing(have, needed...); len(lacking) > 0 {
		return "", &RunError{Type: ErrTypeNoSearchAttribute, Message: fmt.Sprintf(
			"the namespace has no %s, which this list needs; add it with: %s (runs have it once their workers have been restarted), or list one graph",
			strings.Join(lacking, " and no "), attributeCommand(namespace, lacking))}
	}
	return strings.Join(terms, " AND "), nil
}

// statusTerm is the part of a query that finds runs of a status. A run that has
// never been paused may have no TidemillStatus.
func statusTerm(s Status) (term string, known bool) {
	const paused = activities.AttributeStatus + ` = "paused"`
	switch s {
	case StatusPaused:
		return `ExecutionStatus = "Running" AND ` + paused, true
	case StatusRunning:
		return fmt.Sprintf(`ExecutionStatus = "Running" AND (%s IS NULL OR %s != "paused")`, activities.AttributeStatus, activities.AttributeStatus), true
	case StatusCompleted:
		return `ExecutionStatus = "Completed"`, true
	case StatusFailed:
		return `ExecutionStatus IN ("Failed", "Terminated")`, true
	case StatusTimedOut:
		return `ExecutionStatus = "TimedOut"`, true
	case StatusCancelled:
		return `ExecutionStatus = "Canceled"`, true
	}
	return "", false
}

// missing are the attributes that the namespace lacks.
func missing(have []string, wanted ...string) []string {
	lacking := []string{}
	for _, name := range wanted {
		if !slices.Contains(have, name) {
			lacking = append(lacking, name)
		}
	}
	return lacking
}

// listed is what the server knows of a run.
func listed(info *workflowpb.WorkflowExecutionInfo) Listed {
	r := Listed{
		ID: info.GetExecution().GetWorkflowId(), RunID: info.GetExecution().GetRunId(), Graph: info.GetType().GetName(),
		Status: closedStatus(info.GetStatus()), Started: info.GetStartTime().AsTime(), Waiting: []graph.Address{},
	}
	if info.GetCloseTime() != nil {
		at := info.GetCloseTime().AsTime()
		r.Finished = &at
	}
	if !open(info) {
		return r
	}
	indexed := info.GetSearchAttributes().GetIndexedFields()
	var status Status
	if decodeAttribute(indexed[activities.AttributeStatus], &status) && status == StatusPaused {
		r.Status = StatusPaused
		var ids []graph.Address
		if decodeAttribute(indexed[activities.AttributeWaiting], &ids) && ids != nil {
			r.Waiting = ids
		}
	}
	return r
}

// closedStatus is what the server's status of a run says.
func closedStatus(s enumspb.WorkflowExecutionStatus) Status {
	switch s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return StatusCompleted
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return StatusCancelled
	case enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return StatusTimedOut
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return StatusFailed
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED,
		enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED:
	}
	return StatusRunning
}
