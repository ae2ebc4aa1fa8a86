package tidemill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities/permits"
)

// AdmissionView is the book of a domain in numbers, with its oldest permits.
type AdmissionView = permits.View

// AdmissionStatus is how admission stands in a domain; an empty one means the domain
// "default". A domain in which nobody has asked for a permit yet has no book: the
// error is of type unknown_domain. An error matching [ErrNoWorker] says that nobody
// answered in time.
func (c *Client) AdmissionStatus(ctx context.Context, domain string) (AdmissionView, error) {
	var view AdmissionView
	s, err := c.semaphore(ctx, domain)
	if err != nil {
		return view, err
	}
	err = c.askSemaphore(ctx, s, permits.QueryStatus, &view)
	return view, err
}

// AdmissionDomains lists the domains that have a book, sorted. The server's search is
// asked, which learns of a new one a moment late.
func (c *Client) AdmissionDomains(ctx context.Context) ([]string, error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf(`WorkflowType = %q AND ExecutionStatus = "Running"`, permits.WorkflowType), PageSize: maxPage,
	}
	domains := []string{}
	for {
		page, err := c.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, edgeError(err)
		}
		for _, info := range page.GetExecutions() {
			domains = append(domains, permits.DomainOf(info.GetExecution().GetWorkflowId()))
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			slices.Sort(domains)
			return slices.Compact(domains), nil
		}
	}
}

// semaphore is the workflow that holds the book of a domain.
type semaphore struct {
	domain string
	id     string // workflow id
	queue  string // that its workers poll
}

// semaphore finds the workflow of a domain, which must be open.
func (c *Client) semaphore(ctx context.Context, domain string) (semaphore, error) {
	if domain == "" {
		domain = permits.DefaultDomain
	}
	s := semaphore{domain: domain, id: permits.WorkflowID(domain)}
	if err := permits.CheckDomain(domain); err != nil {
		return s, &RunError{Type: ErrTypeInvalidAdmission, Err: err, Message: strings.TrimPrefix(err.Error(), "permits: ")}
	}
	d, err := c.describe(ctx, s.id, "")
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound):
		return s, c.unknownDomain(ctx, domain, "no run has asked for a permit in domain %q yet", domain)
	case err != nil:
		return s, edgeError(err)
	}
	if info := d.GetWorkflowExecutionInfo(); !open(info) {
		return s, c.unknownDomain(ctx, domain, "the book of domain %q was ended at %s (%s); the next request for a permit begins another",
			domain, info.GetCloseTime().AsTime().Format(time.RFC3339), info.GetStatus())
	}
	s.queue = d.GetExecutionConfig().GetTaskQueue().GetName()
	return s, nil
}

// unknownDomain says which domains there are instead, where the server tells.
func (c *Client) unknownDomain(ctx context.Context, domain, format string, args ...any) error {
	message := fmt.Sprintf(format, args...) + "; a domain has no book before that"
	domains, err := c.AdmissionDomains(ctx)
	domains = slices.DeleteFunc(domains, func(d string) bool { return d == domain })
	switch {
	case err != nil:
	case len(domains) > 0:
		message += "; those that have one: " + strings.Join(domains, ", ")
	default:
		message += "; no other domain has one either: is there a worker with an admission section?"
	}
	return &RunError{Type: ErrTypeUnknownDomain, Err: permits.ErrUnknownDomain, Message: message}
}

// askSemaphore puts a query, which a worker must answer soon.
func (c *Client) askSemaphore(ctx context.Context, s semaphore, query string, v any, args ...any) error {
	short, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	answer, err := c.temporal.QueryWorkflow(short, s.id, "", query, args...)
	if err != nil {
		return c.semaphoreError(ctx, s, short.Err() != nil, err)
	}
	return answer.Get(v)
}

// semaphoreError tells a worker that does not answer from a server that does not, and
// from a refusal.
func (c *Client) semaphoreError(ctx context.Context, s semaphore, late bool, err error) error {
	var failed *serviceerror.QueryFailed
	var nobody *serviceerror.FailedPrecondition // no poller was seen lately
	var deadline *serviceerror.DeadlineExceeded
	var timedOut *client.WorkflowUpdateServiceTimeoutOrCanceledError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed):
		return &RunError{Type: ErrTypeServer, Err: err, Message: fmt.Sprintf(
			"the book of domain %q did not answer: %s; its worker may be of another version", s.domain, failed.Message)}
	case taskFailed(err):
		return &RunError{Type: ErrTypeTaskFailed, Err: err, Message: fmt.Sprintf(
			"the workflow task of %s fails, see the log of the workers of %s: %v", s.id, s.queue, err)}
	case late, errors.As(err, &nobody), errors.As(err, &deadline), errors.As(err, &timedOut):
		if _, gone := c.describe(ctx, s.id, ""); gone != nil {
			return edgeError(gone)
		}
		return &RunError{Type: ErrTypeNoWorker, Err: errors.Join(ErrNoWorker, err), Message: fmt.Sprintf(
			"no worker answers on %s; start a worker with an admission section", s.queue)}
	default:
		return edgeError(err)
	}
}
