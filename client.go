package tidemill

import (
	"context"
	"slices"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/tidemill/tidemill/activities"
)

// ClientOptions say what a [Client] knows beforehand. The zero value works.
type ClientOptions struct {
	TaskQueue string // of starts that name none. Zero means [DefaultTaskQueue].
	// App holds graphs known here: a start by name is then checked before it is
	// made. Zero means that the run's first task checks.
	App *App
	// Namespace is the Temporal client's. Zero means that the client is asked.
	Namespace string
	// DataConverter is the Temporal client's, for histories that are replayed here.
	// Zero means the SDK's default.
	DataConverter converter.DataConverter
}

// Client starts runs, answers their pauses and looks at them. It is safe for
// concurrent use.
type Client struct {
	temporal client.Client
	options  ClientOptions
	known    func() (*activities.Catalogue, error) // compiled once

	mu         sync.Mutex
	namespace  string
	attributes []string // that the server has
	asked      bool     // attributes is what it said
}

// NewClient makes a Client of a Temporal client, which stays the caller's to
// close.
func NewClient(c client.Client, o ClientOptions) *Client {
	if o.TaskQueue == "" {
		o.TaskQueue = DefaultTaskQueue
	}
	app := o.App
	if app == nil {
		app = NewApp()
	}
	return &Client{temporal: c, options: o, namespace: o.Namespace, known: sync.OnceValues(app.catalogue)}
}

// Namespace is the namespace that the client works in.
func (c *Client) Namespace(ctx context.Context) (string, error) {
	c.mu.Lock()
	namespace := c.namespace
	c.mu.Unlock()
	if namespace != "" {
		return namespace, nil
	}
	namespace, err := namespaceOf(ctx, c.temporal, "")
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.namespace = namespace
	return namespace, nil
}

// namespaceOf is the namespace of a Temporal client, which has no method to
// tell it but fills it in where a request leaves it out.
func namespaceOf(ctx context.Context, c client.Client, known string) (string, error) {
	if known != "" {
		return known, nil
	}
	request := &workflowservice.CountWorkflowExecutionsRequest{Query: `WorkflowId = "-"`}
	_, err := c.CountWorkflow(ctx, request)
	if request.GetNamespace() == "" {
		return "", edgeError(err)
	}
	return request.GetNamespace(), nil
}

// has reports whether runs may set a search attribute. While the server does not
// tell, they may not.
func (c *Client) has(ctx context.Context, attribute string) bool {
	c.mu.Lock()
	asked, attributes := c.asked, c.attributes
	c.mu.Unlock()
	if !asked {
		namespace, err := c.Namespace(ctx)
		if err != nil {
			return false
		}
		if attributes, err = usableAttributes(ctx, c.temporal, namespace); err != nil {
			return false
		}
		c.mu.Lock()
		c.asked, c.attributes = true, attributes
		c.mu.Unlock()
	}
	return slices.Contains(attributes, attribute)
}

// describe is what the server knows of a run; the latest when runID is empty.
func (c *Client) describe(ctx context.Context, id, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	d, err := c.temporal.DescribeWorkflow(ctx, id, runID)
	if err != nil {
		return nil, err
	}
	return d.RawResponse, nil
}
