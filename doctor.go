package tidemill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/tidemill/tidemill/activities"
)

// Diagnosis is what a server offers to runs, and what is off because of what it
// lacks.
type Diagnosis struct {
	Namespace     string `json:"namespace"`
	ServerVersion string `json:"server_version"`
	TaskQueue     string `json:"task_queue"`
	// WorkflowPollers and ActivityPollers count the pollers of the task queue
	// that the server has seen lately.
	WorkflowPollers int `json:"workflow_pollers"`
	ActivityPollers int `json:"activity_pollers"`
	// SearchAttributes that runs set, and those that the namespace lacks.
	SearchAttributes []string `json:"search_attributes"`
	Missing          []string `json:"missing_search_attributes"`
	// Capabilities of the server, sorted.
	Capabilities []string           `json:"capabilities"`
	Dispatch     DispatchDiagnosis  `json:"dispatch"`
	Admission    AdmissionDiagnosis `json:"admission"`
	Findings     []Finding          `json:"findings"`
}

// Finding is something that is off, and how to mend it.
type Finding struct {
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"` // a command or a sentence; empty: nothing is to be done
}

// Doctor asks the server what it offers. It changes nothing. An empty task queue
// means the client's.
func (c *Client) Doctor(ctx context.Context, taskQueue string) (Diagnosis, error) {
	if taskQueue == "" {
		taskQueue = c.options.TaskQueue
	}
	d := Diagnosis{TaskQueue: taskQueue, SearchAttributes: []string{}, Missing: []string{}, Capabilities: []string{}, Findings: []Finding{}}
	service := c.temporal.WorkflowService()
	system, err := service.GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return d, edgeError(err)
	}
	d.ServerVersion, d.Capabilities = system.GetServerVersion(), capabilities(system.GetCapabilities())
	if d.Namespace, err = c.Namespace(ctx); err != nil {
		return d, err
	}
	if _, err = service.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: d.Namespace}); err != nil {
		return d, edgeError(err)
	}
	if d.WorkflowPollers, err = pollers(ctx, service, d.Namespace, taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW); err != nil {
		return d, edgeError(err)
	}
	if d.ActivityPollers, err = pollers(ctx, service, d.Namespace, taskQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY); err != nil {
		return d, edgeError(err)
	}
	attributes, err := usableAttributes(ctx, c.temporal, d.Namespace)
	if err != nil {
		return d, err
	}
	d.attributes(attributes)
	d.Dispatch = dispatch(d.ServerVersion)
	if d.Admission, err = c.admits(ctx, d.Namespace, taskQueue); err != nil {
		return d, edgeError(err)
	}
	d.judge()
	d.judgeAdmission()
	if err := c.judgeRuns(ctx, &d); err != nil {
		return d, edgeError(err)
	}
	return d, nil
}

// attributes notes which search attributes there are. That of triggers is of a
// later version.
func (d *Diagnosis) attributes(have []string) {
	for _, name := range []string{activities.AttributeGraph, activities.AttributeStatus, activities.AttributeWaiting} {
		if slices.Contains(have, name) {
			d.SearchAttributes = append(d.SearchAttributes, name)
		} else {
			d.Missing = append(d.Missing, name)
		}
	}
}

// judge says what is off.
func (d *Diagnosis) judge() {
	if d.WorkflowPollers == 0 {
		d.find(fmt.Sprintf("no worker polls task queue %q: runs start and then wait", d.TaskQueue),
			"start a worker with task_queue: "+d.TaskQueue)
	} else if d.ActivityPollers == 0 {
		d.find(fmt.Sprintf("nobody polls task queue %q for activities: nodes wait", d.TaskQueue),
			"let the worker run activities")
	}
	if len(d.Missing) > 0 {
		d.find("runs cannot be searched by graph, status or open pause: the namespace has no "+strings.Join(d.Missing, ", ")+
			" (restart the workers once it has)",
			attributeCommand(d.Namespace, d.Missing))
	}
	if d.ServerVersion != "" && olderThan(d.ServerVersion, 1, 29) {
		d.find("the server is version "+d.ServerVersion+", older than 1.29, the oldest that is supported", "upgrade the server")
	}
}

func (d *Diagnosis) find(what, fix string) {
	d.Findings = append(d.Findings, Finding{What: what, Fix: fix})
}

// attributeCommand is the command that adds search attributes to a namespace.
func attributeCommand(namespace string, names []string) string {
	var b strings.Builder
	b.WriteString("temporal operator search-attribute create --namespace " + shellWord(namespace))
	for _, name := range names {
		kind := "Keyword"
		if name == activities.AttributeWaiting {
			kind = "KeywordList"
		}
		b.WriteString(" --name " + name + " --type " + kind)
	}
	return b.String()
}

// olderThan reads the first two numbers of a version.
func olderThan(version string, major, minor int) bool {
	var gotMajor, gotMinor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &gotMajor, &gotMinor); n != 2 {
		return false
	}
	return gotMajor < major || gotMajor == major && gotMinor < minor
}

func capabilities(c *workflowservice.GetSystemInfoResponse_Capabilities) []string {
	list := []string{}
	for _, capability := range []struct {
		name string
		has  bool
	}{
		{"eager_workflow_start", c.GetEagerWorkflowStart()},
		{"encoded_failure_attributes", c.GetEncodedFailureAttributes()},
		{"nexus", c.GetNexus()},
		{"schedules", c.GetSupportsSchedules()},
		{"sdk_metadata", c.GetSdkMetadata()},
		{"upsert_memo", c.GetUpsertMemo()},
	} {
		if capability.has {
			list = append(list, capability.name)
		}
	}
	return list
}

func describeQueue(namespace, queue string, kind enumspb.TaskQueueType) *workflowservice.DescribeTaskQueueRequest {
	return &workflowservice.DescribeTaskQueueRequest{
		Namespace: namespace, TaskQueueType: kind,
		TaskQueue: &taskqueuepb.TaskQueue{Name: queue, Kind: enumspb.TASK_QUEUE_KIND_NORMAL},
	}
}
