package temporaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
)

// auditors is how many histories are read at a time.
const auditors = 4

// Excuse takes the runs of a workflow id out of [Server.Audit], for a test whose
// tasks are meant to hold more than others may, and says so.
func (s *Server) Excuse(workflowID string) { s.excused.Store(workflowID, true) }

// Audit holds every history on the server, of every namespace, against [Audit]. It is
// called before the server is stopped, so no test can forget it.
func (s *Server) Audit(ctx context.Context) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: s.Address(), Logger: Logger()})
	if err != nil {
		return fmt.Errorf("temporaltest: audit: %w", err)
	}
	defer c.Close()
	response, err := c.WorkflowService().ListNamespaces(ctx, &workflowservice.ListNamespacesRequest{PageSize: 100})
	if err != nil {
		return fmt.Errorf("temporaltest: audit: %w", err)
	}
	var all faults
	for _, namespace := range response.GetNamespaces() {
		name := namespace.GetNamespaceInfo().GetName()
		if name == "temporal-system" {
			continue
		}
		if err := s.auditNamespace(ctx, c, name, &all); err != nil {
			return fmt.Errorf("temporaltest: audit of namespace %s: %w", name, err)
		}
	}
	return errors.Join(all.found...)
}

// faults gathers what several histories have.
type faults struct {
	mu    sync.Mutex
	found []error
}

func (f *faults) add(run *commonpb.WorkflowExecution, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = append(f.found, fmt.Errorf("temporaltest: audit of %s, run %s: %w", run.GetWorkflowId(), run.GetRunId(), err))
}

func (s *Server) auditNamespace(ctx context.Context, c client.Client, namespace string, all *faults) error {
	inside, err := client.NewClientFromExistingWithContext(ctx, c, client.Options{Namespace: namespace, Logger: Logger()})
	if err != nil {
		return err
	}
	defer inside.Close()
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace}
	for {
		page, err := inside.ListWorkflow(ctx, request)
		if err != nil {
			return err
		}
		var group errgroup.Group
		group.SetLimit(auditors)
		for _, info := range page.GetExecutions() {
			run := info.GetExecution()
			if _, excused := s.excused.Load(run.GetWorkflowId()); !excused {
				group.Go(func() error { return auditRun(ctx, inside, run, all) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// auditRun audits one history. One that was deleted meanwhile is none.
func auditRun(ctx context.Context, c client.Client, run *commonpb.WorkflowExecution, all *faults) error {
	var history historypb.History
	events := c.GetWorkflowHistory(ctx, run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		var gone *serviceerror.NotFound
		switch {
		case errors.As(err, &gone):
			return nil
		case err != nil:
			return err
		}
		history.Events = append(history.Events, event)
	}
	if err := Audit(&history); err != nil {
		all.add(run, err)
	}
	return nil
}
