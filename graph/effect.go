package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Effect is something the machine wants done. The driver does it and tells the
// machine how it ended. Each effect is handed out once.
type Effect interface{ effect() }

// RunNode asks for an activity to be scheduled for a node's next attempt. The
// driver answers with [Machine.End].
type RunNode struct {
	Task Task
	// Args are the arguments of an activity that is not ours; it is given them
	// instead of the task.
	Args json.RawMessage
	// MaxAttempts is how many attempts the driver may make by itself.
	MaxAttempts int
	// Local asks for a local activity, for one attempt.
	Local bool
	// Priority and Flow are what admission says of the attempt, for Temporal's own
	// dispatch; zero: nothing.
	Priority int
	Flow     string
}

// StartChild asks for a child workflow: of a graph, or of a map that is long
// enough to have a run of its own. The driver answers with [Machine.End], in
// between with [Machine.Told]; [CancelNode] asks for it to be cancelled.
type StartChild struct {
	Address Address // of the activation; Start.Address is that of the attempt
	Node    *Node
	Graph   string          // the workflow type
	Input   json.RawMessage // the child's input, an object; for a map the state its items read
	Start   ChildStart
	// Document is set for an inline child: its documents are handed over at once.
	Document *Document
}

// Forward asks for an answer to be handed to the child that holds its pause. The
// child's [ChildReport] says what became of it.
type Forward struct {
	Address Address // of the activation that runs the child
	Request string
	Answer  Answer
}

// CancelNode asks for the open activity of an address to be cancelled. The
// driver still answers with [Machine.End].
type CancelNode struct{ Address Address }

// SetTimer asks for [Machine.Fire] at an instant.
type SetTimer struct {
	Address Address
	At      time.Time
	Purpose string // for people: "expires", "wait", "backoff", "interrupted", "admission"
}

// StopTimer takes back the timer of an address.
type StopTimer struct{ Address Address }

func (RunNode) effect()    {}
func (Acquire) effect()    {}
func (Release) effect()    {}
func (StartChild) effect() {}
func (Forward) effect()    {}
func (CancelNode) effect() {}
func (SetTimer) effect()   {}
func (StopTimer) effect()  {}

// Effects hands out what is due since the last call, in the order it became
// due.
func (m *Machine) Effects() []Effect {
	due := m.effects
	m.effects, m.handed = nil, m.cp.Acquisitions
	return due
}

func (m *Machine) emit(e Effect) { m.effects = append(m.effects, e) }

// MaxTask is how many bytes of node, input and state one activity may be given.
// A server takes 2 MiB as one payload, and ends a run that asks for more; the
// rest is for the facts of the run.
const MaxTask = 2<<20 - 64<<10

// emitRun makes the next attempt of an activation due, and settles how it runs. One
// that has no permit yet asks for it first.
func (m *Machine) emitRun(now time.Time, a *Activation) {
	if !m.admitted(a) {
		m.acquire(now, a)
		return
	}
	a.Phase = PhaseRunning
	a.Local = m.runsLocally(a)
	m.emitAttempt(a)
}

// emitAttempt makes an attempt due that runs as the activation says. A task that
// no server would take fails the node instead.
func (m *Machine) emitAttempt(a *Activation) {
	node := m.plan.Node(a.Node)
	state := m.cp.State
	if !node.ReadsAll {
		state = state.Select(node.Reads)
	} else {
		state = state.Clone()
	}
	facts, permit := m.factsOf(a), Permit{}
	if p := m.permitOf(a.Address); p != nil {
		permit = *p
	}
	facts.Token = permit.Token
	task := Task{
		Node: node.task(), Run: facts, Input: a.Input, Item: a.Item, Index: a.Index, State: state, Limits: m.limits,
		Before: a.Attempts, Heartbeat: a.Heartbeat, Permit: m.handOver(a, &permit),
	}
	if size := task.Size(); size > MaxTask && node.Wrapped() {
		m.fail(a, Failf(ErrTypeStateTooLarge,
			"the node would be given %d bytes (input %d, state %d); at most %d are allowed: read fewer or smaller state keys",
			size, len(a.Input), state.Size(), MaxTask))
		return
	}
	attempts := max(node.Retry.attempts()-a.Attempts, 1)
	if a.Local || m.admission && node.Foreign() && node.Retry.longest() >= briefly {
		attempts = 1 // each is recorded by itself, and the machine's own backoff lies between
	}
	m.emit(RunNode{
		Task: task, Args: a.Args, MaxAttempts: attempts, Local: a.Local, Priority: permit.Priority, Flow: permit.Flow,
	})
}

// task is the node as its activity needs it: where it leads to is the
// machine's business, and would only make the payload longer.
func (n *Node) task() *Node {
	bare := *n
	bare.Next, bare.OnError, bare.Reads, bare.ReadsAll = nil, nil, nil, false
	bare.Overflow, bare.QueueTimeout = "", 0
	return &bare
}

// Sent is the task as it goes to its activity: without an input that nothing there
// looks at, for the output of one node would else be in history again with the next.
func (t Task) Sent() Task {
	if !t.Node.takesInput() {
		t.Input = nil
	}
	return t
}

// takesInput reports whether what the node's activity evaluates may look at the
// node's input. It goes by the letters, so it errs on the side of sending.
func (n *Node) takesInput() bool {
	if n.InputSchema != nil || n.ArgsCall != "" {
		return true
	}
	return slices.ContainsFunc([]json.RawMessage{n.Args, n.Output, n.Delta}, func(raw json.RawMessage) bool {
		return !literal(raw) && bytes.Contains(raw, []byte("input"))
	})
}

// Size is about how many bytes a task takes beside the facts of the run.
func (t *Task) Size() int {
	n := t.Node
	return len(n.InputSchema) + len(n.OutputSchema) + len(n.Output) + len(n.Delta) + len(n.Args) +
		len(t.Input) + len(t.Item) + len(t.Heartbeat) + t.State.Size()
}

func (r *Retry) attempts() int {
	if r == nil {
		return 1
	}
	return r.MaxAttempts
}

// sleep puts an activation to rest until an instant.
func (m *Machine) sleep(a *Activation, phase Phase, at time.Time) {
	a.Phase, a.At = phase, &at
	m.emit(SetTimer{Address: a.Address, At: at, Purpose: m.timerPurpose(a)})
}

// wake ends a rest; stop takes the timer back when it has not fired.
func (m *Machine) wake(a *Activation, stop bool) {
	if a.At == nil {
		return
	}
	a.At = nil
	if stop {
		m.emit(StopTimer{Address: a.Address})
	}
}

// timerPurpose says what an activation rests for, in the words of the history.
func (m *Machine) timerPurpose(a *Activation) string {
	switch a.Phase {
	case PhasePaused, PhaseAnswered:
		return "expires"
	case PhaseWaiting:
		return "wait"
	case PhaseAdmission:
		return purposeAdmission + cutText(m.permitOf(a.Address).reason(), maxPurpose)
	case PhaseBackoff:
		return "backoff"
	case PhaseInterrupted:
		return "interrupted"
	case PhaseReady, PhaseDeciding, PhaseRunning, PhaseChecking, PhaseRouting,
		PhaseFailed, PhaseEnding, PhaseForking, PhaseSettled, PhaseCancelling, PhaseCancelled:
		return ""
	case PhaseMapping:
		return "timeout"
	default:
		return ""
	}
}
