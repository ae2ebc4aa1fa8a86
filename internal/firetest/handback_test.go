package firetest_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// loser loses the answer of one attempt on its way to the server, as a worker does that
// is killed in between.
type loser struct{ lost atomic.Bool }

// of is the option of a client whose answer is lost that holds some text.
func (l *loser) of(text string) func(*client.Options) {
	intercept := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if answer, ok := req.(*workflowservice.RespondActivityTaskCompletedRequest); ok {
			for _, payload := range answer.GetResult().GetPayloads() {
				if bytes.Contains(payload.GetData(), []byte(text)) && l.lost.CompareAndSwap(false, true) {
					return status.Error(codes.InvalidArgument, "lost") // not tried again by the client
				}
			}
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	return func(o *client.Options) {
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(intercept))
	}
}

// An attempt gave its permit back and its answer was lost. Somebody else has the permit
// when the run hears that its worker is gone: it must ask anew and wait, not make the
// attempt again with a permit that is not its own any more.
func TestGraphLosesAnAnswer(t *testing.T) {
	t.Parallel()
	answer := new(loser)
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{single("queues", "")}, client: answer.of(`"first"`)})
	first := h.start("queues", playing("first"))
	temporaltest.Wait(t, patience, "the answer to be lost", answer.lost.Load)
	second := h.start("queues", holding("second"))
	h.stage.plays(t, "second", 1) // long before the run of the first hears of a lost worker
	h.holds(1, 0)
	h.waits(first)
	require.Equal(t, 1, h.stage.begun("first"))

	h.stage.let("second")
	h.ends(second, tidemill.StatusCompleted)
	h.ends(first, tidemill.StatusCompleted)
	require.Equal(t, 2, h.stage.begun("first"), "an attempt is made again when nobody knows how it ended")
	require.Equal(t, 1, h.stage.most)
	h.holds(0, 0)
}
