package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// How much one report to a parent holds, and how much is remembered of them.
const (
	maxReported = 256 << 10 // bytes of pauses: the server takes no long signal
	maxReplied  = 1_000     // answers whose replies are told again
	maxRefusal  = 500       // bytes of a reply's message: a thousand fit into a report
)

// parent is the run that started this one, and what it has been told. A run without
// a parent has none to tell.
type parent struct {
	execution *workflow.Execution // nil: nobody to tell, or nobody any more
	address   graph.Address
	sequence  int
	paused    bool              // as it was told
	told      []graph.OpenPause // that it knows of
	busy      bool              // a report is on its way
	carrying  []graph.Reply     // in that report
	due       []graph.Reply     // not in a report yet
	asked     []string          // requests whose reply is not known yet
	replied   []graph.Reply     // the last maxReplied
}

// tell tells the parent what has changed, one report at a time: what changes while
// one is on its way goes into the next. Nothing is said at the end, for the parent
// hears of that from the server, but that answers have been taken or refused.
func (r *run) tell(ctx workflow.Context) {
	p := &r.parent
	if p.execution == nil || p.busy {
		return
	}
	r.gatherReplies()
	report := r.machine.TellsParent().Since(p.told)
	same := report.Paused == p.paused && len(report.Pauses)+len(report.Closed) == 0
	if len(p.due) == 0 && (same || r.machine.Outcome() != nil) {
		return
	}
	report.Pauses = fitting(report.Pauses)
	p.paused, p.told = report.Paused, report.Apply(p.told)
	p.sequence++
	report.Sequence, report.Replies = p.sequence, p.due
	p.carrying, p.due, p.busy = p.due, nil, true
	message, err := activities.Plain(report)
	if err != nil {
		blocked("a report to the parent cannot be written", err)
	}
	r.budget.command(ctx, len(message.Payload().GetData()))
	future := workflow.SignalExternalWorkflow(ctx, p.execution.ID, p.execution.RunID, SignalChild, message)
	workflow.GoNamed(ctx, "report to the parent", func(ctx workflow.Context) {
		if future.Get(ctx, nil) != nil {
			*p = parent{} // it has closed
		}
		p.busy, p.carrying = false, nil
		r.note(func(time.Time) {}) // the next report may go
	})
}

// gatherReplies takes the verdicts that the machine has given. When the run has
// ended there will be no other.
func (r *run) gatherReplies() {
	for _, request := range slices.Clone(r.parent.asked) {
		failure, done := r.machine.Replied(fromParent + request)
		if !done && r.machine.Outcome() != nil {
			failure, done = graph.Failf(graph.ErrTypePauseClosed, "the run ended before the answer was taken"), true
		}
		if done {
			r.parent.reply(request, failure)
		}
	}
}

// owes reports whether the parent still waits for what became of an answer.
func (p *parent) owes() bool {
	return p.execution != nil && len(p.asked)+len(p.carrying)+len(p.due) > 0
}

// reply says what became of an answer that the parent handed over.
func (p *parent) reply(request string, failure *graph.Failure) {
	p.asked = slices.DeleteFunc(p.asked, func(asked string) bool { return asked == request })
	reply := graph.Reply{Request: request}
	if failure != nil {
		reply.Failure = graph.Failf(failure.Type, "%s", cut(failure.Message, maxRefusal))
	}
	p.due = append(p.due, reply)
	if len(p.replied) >= maxReplied {
		p.replied = p.replied[1:]
	}
	p.replied = append(p.replied, reply)
}

// known reports whether an answer has been handed over before. One whose reply is
// known is told it again.
func (p *parent) known(request string) bool {
	for _, reply := range p.replied {
		if reply.Request == request {
			p.due = append(p.due, reply)
			return true
		}
	}
	return slices.Contains(p.asked, request)
}

// fitting are the pauses that fit into a report, the first of them and at least
// one. The others go with the next one.
func fitting(pauses []graph.OpenPause) []graph.OpenPause {
	size := 0
	for i, p := range pauses {
		raw, err := json.Marshal(p)
		if size += len(raw); i > 0 && (err != nil || size > maxReported) {
			return pauses[:i]
		}
	}
	return pauses
}

// receiveForwarded takes an answer that the parent hands over. It is judged like
// any other; the parent is told what became of it.
func (r *run) receiveForwarded(ctx workflow.Context, raw json.RawMessage) {
	forwarded, err := activities.ParseForwardedAnswer(raw)
	if err == nil && r.info.ParentWorkflowExecution == nil {
		err = errNoParent
	}
	if err != nil {
		r.machine.Reject(workflow.Now(ctx), "signal", "", graph.Failf(graph.ErrTypeInvalidResumeInput,
			"signal %s is for runs only; answer a pause with %s: %v", SignalAnswer, SignalResume, err))
		return
	}
	if r.parent.known(forwarded.Request) {
		return
	}
	answer := forwarded.Answer
	answer.Request = fromParent + forwarded.Request
	refuse := func(now time.Time, failure *graph.Failure) {
		r.machine.Reject(now, answer.Via, string(answer.PauseID), failure)
		r.parent.reply(forwarded.Request, failure)
	}
	if failure := r.machine.Judge(answer); failure != nil {
		refuse(workflow.Now(ctx), failure)
		return
	}
	r.parent.asked = append(r.parent.asked, forwarded.Request)
	r.push(func(now time.Time) {
		if failure := r.machine.Answer(now, answer); failure != nil {
			refuse(now, failure)
		}
	})
}

// fromParent tells the requests of the parent from those of updates here.
const fromParent = "parent/"

var errNoParent = errors.New("no run started this one")

// receiveReport takes what a child tells.
func (r *run) receiveReport(ctx workflow.Context, raw json.RawMessage) {
	report, err := activities.ParseChildReport(raw)
	if err != nil {
		r.machine.Reject(workflow.Now(ctx), "signal", "", graph.Failf(graph.ErrTypeInvalidResumeInput,
			"signal %s is for runs only; answer a pause with %s: %v", SignalChild, SignalResume, err))
		return
	}
	r.drain.moved = true
	r.told = append(r.told, func(now time.Time) { r.machine.Told(now, report) })
}
