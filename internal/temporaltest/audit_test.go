package temporaltest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// pen writes a history as a server would.
type pen struct {
	history historypb.History
	task    int64
	clock   time.Time
}

func (p *pen) event(kind enumspb.EventType) *historypb.HistoryEvent {
	event := &historypb.HistoryEvent{
		EventId: int64(len(p.history.Events) + 1), EventType: kind, EventTime: timestamppb.New(p.clock),
	}
	p.history.Events = append(p.history.Events, event)
	return event
}

// begin begins a workflow task at a time.
func (p *pen) begin(clock time.Time) {
	p.clock = clock
	p.event(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)
	p.event(enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED)
	p.task = p.event(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED).EventId
}

// local is the marker of a local activity that ended at a time.
func (p *pen) local(ended time.Time, encoding string, result string) {
	data := fmt.Sprintf(`{"ActivityID":"1","ActivityType":"x","ReplayTime":%q}`, ended.Format(time.RFC3339Nano))
	p.event(enumspb.EVENT_TYPE_MARKER_RECORDED).Attributes = &historypb.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{
			MarkerName: "LocalActivity", WorkflowTaskCompletedEventId: p.task,
			Details: map[string]*commonpb.Payloads{
				"data": {Payloads: []*commonpb.Payload{{
					Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: []byte(data),
				}}},
				"result": {Payloads: []*commonpb.Payload{{Data: []byte(result)}}},
			},
		},
	}
}

// activity is the command that schedules an activity.
func (p *pen) activity(input string) {
	p.event(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED).Attributes = &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
		ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
			WorkflowTaskCompletedEventId: p.task, Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte(input)}}},
		},
	}
}

// An audit that lets a rule be broken is worth nothing; nor is one that blames a task
// for what another held, or for a machine that stood still.
func TestAudit(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	many := func(p *pen, n int, every time.Duration, encoding string, bytes int) {
		for i := range n {
			p.local(start.Add(time.Duration(i+1)*every), encoding, strings.Repeat("x", bytes))
		}
	}
	const plain, coded = converter.MetadataEncodingJSON, "binary/encrypted"
	for _, c := range []struct {
		name  string
		write func(*pen)
		want  string // empty: nothing is wrong
	}{
		{"as many markers as may be", func(p *pen) { many(p, 256, time.Millisecond, plain, 1) }, ""},
		{"one marker too many", func(p *pen) { many(p, 257, time.Millisecond, plain, 1) }, "257 markers, and 256 are allowed"},
		{"too many of a codec", func(p *pen) { many(p, 257, time.Millisecond, coded, 1) }, "257 markers"},
		{"large results", func(p *pen) { many(p, 2, time.Millisecond, plain, 255<<10) }, ""},
		{"results too large", func(p *pen) { many(p, 2, time.Millisecond, plain, 256<<10) }, "bytes of markers, and 524288 are allowed"},
		{"a large command", func(p *pen) { p.activity(strings.Repeat("x", 1<<20)) }, ""},
		{"commands too large", func(p *pen) {
			p.activity(strings.Repeat("x", 1<<20))
			p.activity(strings.Repeat("x", 1<<20))
		}, "bytes, and 2097152 are allowed"},
		{"two seconds", func(p *pen) { many(p, 200, 10*time.Millisecond, plain, 1) }, ""},
		{"more than two seconds", func(p *pen) { many(p, 201, 10*time.Millisecond, plain, 1) }, "2010 milliseconds of local work, and 2000 are allowed"},
		{"few, but slow", func(p *pen) { many(p, 3, time.Second, plain, 1) }, "3000 milliseconds"},
		{"a machine that stood still", func(p *pen) {
			p.local(start.Add(30*time.Millisecond), plain, "")
			p.local(start.Add(40*time.Second), plain, "")
		}, ""},
		{"a codec hides the time", func(p *pen) { many(p, 3, time.Second, coded, 1) }, ""},
		{"the second task", func(p *pen) {
			many(p, 200, 10*time.Millisecond, plain, 1)
			p.begin(start.Add(time.Minute))
			p.local(start.Add(time.Minute+time.Second), plain, "")
			p.local(start.Add(time.Minute+2*time.Second), plain, "")
			p.local(start.Add(time.Minute+2001*time.Millisecond), plain, "")
		}, "workflow task 2, completed by event 206: 2001 milliseconds"},
		{"two tasks together", func(p *pen) {
			many(p, 200, 10*time.Millisecond, plain, 1)
			p.begin(start.Add(3 * time.Second))
			p.local(start.Add(4*time.Second), plain, "")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &pen{}
			p.begin(start)
			c.write(p)
			err := temporaltest.Audit(&p.history)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
				require.Equal(t, 1, strings.Count(err.Error(), "are allowed"), "it blames more than there is: %v", err)
			}
		})
	}
}

// slow works locally for longer than one task should.
func slow(ctx workflow.Context) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
	for range 4 {
		if err := workflow.ExecuteLocalActivity(ctx, "work").Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// What the SDK writes into markers must be what the audit reads, and no namespace of
// a server and no run may be left out but those that a test excuses.
func TestServerAudit(t *testing.T) {
	t.Parallel()
	server, err := devserver.Start(t.Context(), devserver.Options{Namespaces: []string{"other"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	audited := &temporaltest.Server{Server: server}
	c := audited.Client(t, func(o *client.Options) { o.Namespace = "other" })
	release := time.NewTicker(900 * time.Millisecond)
	t.Cleanup(release.Stop)
	audited.Worker(t, c, "slow", worker.Options{}, func(r worker.Registry) {
		r.RegisterWorkflowWithOptions(slow, workflow.RegisterOptions{Name: "slow"})
		r.RegisterActivityWithOptions(func() error { <-release.C; return nil }, activity.RegisterOptions{Name: "work"})
	})
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "slow", TaskQueue: "slow"}, "slow")
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), nil))
	temporaltest.Wait(t, time.Minute, "the audit to find the run", func() bool {
		err = audited.Audit(t.Context())
		return err != nil
	})
	require.ErrorContains(t, err, "audit of slow, run "+run.GetRunID()+": workflow task 1,")
	require.ErrorContains(t, err, "milliseconds of local work")
	audited.Excuse("slow")
	require.NoError(t, audited.Audit(t.Context()))
}
