package tidemill

import (
	"context"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// AdmissionDiagnosis says who gives permits to the runs of a task queue.
type AdmissionDiagnosis struct {
	// On says that a worker holds books for the task queue, or has until now.
	On              bool   `json:"on"`
	TaskQueue       string `json:"task_queue"`       // of the books
	WorkflowPollers int    `json:"workflow_pollers"` // of that task queue
	// Books are those that run, by domain. One begins with the first request.
	Books []BookDiagnosis `json:"books"`
}

// BookDiagnosis is the book of one domain.
type BookDiagnosis struct {
	Domain    string `json:"domain"`
	TaskQueue string `json:"task_queue"` // where it runs
	// Status is the book in numbers; nil: it does not answer.
	Status *admission.Status `json:"status"`
}

// DispatchDiagnosis says whether the server hands out activities by the priority and
// the flow of their classification. A server does not tell what is set in it, so
// this is what its version does unless it was set otherwise.
type DispatchDiagnosis struct {
	Priority string `json:"priority"` // one of the Dispatch words
	Fairness string `json:"fairness"`
}

// What a server does unless it was set otherwise.
const (
	DispatchOn      = "on_by_default"
	DispatchOff     = "off_by_default" // matching.useNewMatcher, matching.enableFairness
	DispatchUnknown = "unknown"
)

// Bounds of looking at books.
const (
	maxBooks   = 50
	lookWithin = 2 * time.Second
)

// admits looks at the books of a task queue. A namespace has one book a domain, so
// that of the default domain may run on the queue of other workers.
func (c *Client) admits(ctx context.Context, namespace, graphs string) (AdmissionDiagnosis, error) {
	a := AdmissionDiagnosis{TaskQueue: permits.TaskQueue(graphs), Books: []BookDiagnosis{}}
	service := c.temporal.WorkflowService()
	var err error
	if a.WorkflowPollers, err = pollers(ctx, service, namespace, a.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW); err != nil {
		return a, err
	}
	page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", permits.WorkflowType), PageSize: maxBooks,
	})
	if err != nil {
		return a, err
	}
	for _, info := range page.GetExecutions() {
		domain := permits.DomainOf(info.GetExecution().GetWorkflowId())
		book := BookDiagnosis{Domain: domain, TaskQueue: info.GetTaskQueue()}
		if ours := book.TaskQueue == a.TaskQueue; !ours && (a.WorkflowPollers == 0 || domain != permits.DefaultDomain) {
			continue
		}
		polled := a.WorkflowPollers
		if book.TaskQueue != a.TaskQueue {
			if polled, err = pollers(ctx, service, namespace, book.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW); err != nil {
				return a, err
			}
		}
		if polled > 0 { // a query would wait for a worker
			book.Status = c.bookOf(ctx, domain)
		}
		a.Books = append(a.Books, book)
	}
	a.On = a.WorkflowPollers > 0 || len(a.Books) > 0
	return a, nil
}

// bookOf asks the book of a domain; nil: it does not answer.
func (c *Client) bookOf(ctx context.Context, domain string) *admission.Status {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	answer, err := c.temporal.QueryWorkflow(ctx, permits.WorkflowID(domain), "", permits.QueryStatus)
	if err != nil {
		return nil
	}
	var view permits.View
	if err := answer.Get(&view); err != nil {
		return nil
	}
	return &view.Status
}

// judgeAdmission says what keeps permits from being given.
func (d *Diagnosis) judgeAdmission() {
	for _, b := range d.Admission.Books {
		switch {
		case b.Status == nil:
			graphs := strings.TrimSuffix(b.TaskQueue, permits.TaskQueue(""))
			d.find(fmt.Sprintf("the book of admission domain %q does not answer: runs wait for their permits", b.Domain),
				fmt.Sprintf("start a worker with admission and task_queue: %s, for the book runs on %s", graphs, b.TaskQueue))
		case b.Status.Paused:
			d.find(fmt.Sprintf("admission domain %q is paused: nothing is granted", b.Domain), resumeBook(b.Domain))
		case b.Status.Draining:
			d.find(fmt.Sprintf("admission domain %q is draining: it takes no new work", b.Domain), resumeBook(b.Domain))
		}
	}
}

// resumeBook is the command that ends a pause or a drain.
func resumeBook(domain string) string {
	if domain == permits.DefaultDomain {
		return "starter admission resume"
	}
	return "starter admission resume --domain " + shellWord(domain)
}

// dispatch is what a version of the server does by default.
func dispatch(version string) DispatchDiagnosis {
	switch {
	case version == "":
		return DispatchDiagnosis{Priority: DispatchUnknown, Fairness: DispatchUnknown}
	case olderThan(version, 1, 32):
		return DispatchDiagnosis{Priority: DispatchOff, Fairness: DispatchOff}
	}
	return DispatchDiagnosis{Priority: DispatchOn, Fairness: DispatchOff}
}
