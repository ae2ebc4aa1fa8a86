package admission_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// The numbered scenarios of admission, as far as a book alone can show them.
// Waiting callers (139 await, 144 waiter) are the Temporal side's.

const (
	admitted = admission.AnswerGranted
	queued   = admission.AnswerQueued
	limited  = admission.AnswerLimitReached
	full     = admission.AnswerQueueFull
)

// rejecting turns requests into ones that do not wait.
func rejecting(r admission.Request) admission.Request {
	r.Overflow = admission.OverflowReject
	return r
}

func TestConformance138LimitsAndReject(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 2, DefaultAgent: 1})
	ask := func(id, agent string) admission.Answer { return d.ask(rejecting(request(id, agent)))[0] }

	require.Equal(t, admitted, ask("1", "a"))
	require.Equal(t, limited, ask("2", "a"))
	require.Equal(t, admitted, ask("3", "b"))
	require.Equal(t, limited, ask("4", "c"))
	require.Empty(t, d.free("1"))
	require.Equal(t, admitted, ask("5", "c"))
	d.free("3", "5")
	s := d.Status(d.now)
	require.Zero(t, s.Active)
	require.Zero(t, s.Queued)
	require.Empty(t, s.Agents)
}

func TestConformance139BoundedQueue(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1, MaxQueue: 2})
	require.Equal(t, []admission.Answer{admitted, queued, queued, full},
		d.ask(request("seed", "a"), request("r1", "a"), request("r2", "a"), request("r3", "a")))
	require.Equal(t, []string{"r1"}, d.free("seed"))
	require.Equal(t, queued, d.told["r2"].Answer)
	require.Equal(t, []string{"r2"}, d.free("r1"))
}

func TestConformance141ActiveOwnerDies(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	d.ask(request("dead/1", "a"))
	token := d.told["dead/1"].Token
	require.Equal(t, 1, d.Gone(d.now, ownerOf("dead/1")))
	d.turn()
	require.Equal(t, admission.AnswerOwnerGone, d.told["dead/1"].Answer)
	require.Equal(t, admission.ResultNotFound, d.Release(d.now, "dead/1", token))
	require.Equal(t, []admission.Answer{admitted}, d.ask(rejecting(request("next/1", "a"))))
}

func TestConformance142QueuedOwnerDies(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	d.ask(request("seed", "a"), request("dead/1", "a"))
	d.Gone(d.now, ownerOf("dead/1"))
	d.turn()
	require.Equal(t, admission.AnswerOwnerGone, d.told["dead/1"].Answer)
	require.Zero(t, d.Status(d.now).Queued)
	require.Equal(t, admission.ResultNotFound, d.Cancel(d.now, "dead/1"))
	require.Empty(t, d.free("seed"))
}

func TestConformance143AbsoluteDeadline(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	r := request("late", "a")
	r.Deadline = d.now.Add(30 * time.Millisecond)
	d.ask(request("seed", "a"), r)
	turn := d.turn()
	require.Equal(t, r.Deadline, turn.Next, "the book asks to be woken for it")
	require.Empty(t, d.pass(30*time.Millisecond))
	require.Equal(t, admission.AnswerDeadlineExceeded, d.told["late"].Answer)
	require.Zero(t, d.Status(d.now).Queued)
}

// A deadline bounds the wait, not the work: with room it does not matter, and
// without room a full queue is said first.
func TestDecisionOrderOfAPastDeadline(t *testing.T) {
	t.Parallel()
	past := func(id string) admission.Request {
		r := request(id, "a")
		r.Deadline = noon.Add(-time.Second)
		return r
	}
	d := setup(t, admission.Limits{Global: 1, MaxQueue: 1})
	require.Equal(t, []admission.Answer{admitted, limited, admission.AnswerDeadlineExceeded},
		d.ask(past("1"), rejecting(past("2")), past("3")))
	require.Equal(t, []admission.Answer{queued, full}, d.ask(request("4", "a"), past("5")))
}

func TestConformance144Cancellation(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	d.ask(request("active", "a"), request("waiting", "a"))
	require.Equal(t, admission.ResultCancelled, d.Cancel(d.now, "waiting"))
	d.turn()
	require.Equal(t, admission.AnswerCancelled, d.told["waiting"].Answer)

	token := d.told["active"].Token
	require.Equal(t, admission.ResultReleased, d.Cancel(d.now, "active"))
	d.turn()
	require.Equal(t, admission.ResultNotFound, d.Release(d.now, "active", token))
	require.Equal(t, admission.ResultNotFound, d.Cancel(d.now, "active"))
	require.Zero(t, d.active(admission.KeyGlobal))
}

func TestConformance145MalformedRequests(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", admission.MaxNameBytes+1)
	for field, spoil := range map[string]func(*admission.Request){
		"id":            func(r *admission.Request) { r.ID = "" },
		"owner.process": func(r *admission.Request) { r.Owner = admission.Owner{} },
		"owner":         func(r *admission.Request) { r.Owner.Process = "p" },
		"owner.first_run": func(r *admission.Request) {
			r.Owner.FirstRun = ""
		},
		"owner.workflow": func(r *admission.Request) { r.Owner.Workflow = "" },
		"agent":          func(r *admission.Request) { r.Agent = "" },
		"agent ":         func(r *admission.Request) { r.Agent = long },
		"agent  ":        func(r *admission.Request) { r.Agent = "\xff" },
		"keys[0].key":    func(r *admission.Request) { r.Keys = []admission.Units{{}} },
		"keys[0].key ":   func(r *admission.Request) { r.Keys = []admission.Units{{Key: "agent:x"}} },
		"keys[0].key  ":  func(r *admission.Request) { r.Keys = []admission.Units{{Key: "x*"}} },
		"keys[1].key":    func(r *admission.Request) { r.Keys = []admission.Units{{Key: "x"}, {Key: "x"}} },
		"keys[0].units":  func(r *admission.Request) { r.Keys = []admission.Units{{Key: "x", Units: -1}} },
		"keys":           func(r *admission.Request) { r.Keys = make([]admission.Units, admission.MaxKeys+1) },
		"rates[0].units": func(r *admission.Request) { r.Rates = []admission.Units{{Key: "x", Units: admission.MaxUnits + 1}} },
		"flow":           func(r *admission.Request) { r.Flow = long },
		"priority":       func(r *admission.Request) { r.Priority = new(101) },
		"priority ":      func(r *admission.Request) { r.Priority = new(-1) },
		"overflow":       func(r *admission.Request) { r.Overflow = "drop" },
		"queue_timeout":  func(r *admission.Request) { r.QueueTimeout = -2 },
		"deadline":       func(r *admission.Request) { r.Deadline = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC) },
		"visible_at":     func(r *admission.Request) { r.VisibleAt = time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC) },
		"parent":         func(r *admission.Request) { r.Parent = r.ID },
		"within":         func(r *admission.Request) { r.Within = make([]string, admission.MaxKeys+1) },
		"within[0]":      func(r *admission.Request) { r.Within = []string{""} },
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			d := setup(t, admission.Limits{Global: 1})
			bad := request("bad", "a")
			spoil(&bad)
			before := d.State()
			err := d.Submit(d.now, bad)
			require.ErrorIs(t, err, admission.ErrInvalidRequest)
			require.ErrorContains(t, err, " "+strings.TrimSpace(field)+": ")
			require.Equal(t, before, d.State())
			require.Equal(t, []admission.Answer{admitted}, d.ask(request("good", "a")), "the book goes on")
		})
	}
}

func TestConformance147BoundedConcurrency(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 3})
	var running []string
	for i := range 10 {
		id := fmt.Sprint("w", i)
		if d.ask(request(id, "a"))[0] == admitted {
			running = append(running, id)
		}
	}
	require.Len(t, running, 3)
	require.Equal(t, 7, d.Status(d.now).Queued)
	for len(running) > 0 {
		require.Equal(t, len(running), d.active(admission.KeyGlobal))
		require.LessOrEqual(t, len(running), 3)
		running = append(running[1:], d.free(running[0])...)
	}
	require.Zero(t, d.Status(d.now).Queued)
	require.Zero(t, d.Status(d.now).Permits)
}

func TestConformance148Status(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 4, DefaultAgent: 1, Agents: agents("b", 2), MaxQueue: 9, Overflow: admission.OverflowQueue})
	d.ask(request("secret-1", "a"), request("secret-2", "a"), request("secret-3", "b"))
	raw, err := json.Marshal(d.Status(d.now))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"global_limit": 4, "active": 2, "available": 2, "permits": 2, "queue_length": 1, "max_queue": 9, "claims": 0,
		"overflow": "queue", "paused": false, "draining": false, "version": 0,
		"per_agent": [
			{"name": "a", "active": 1, "queued": 1, "limit": 1},
			{"name": "b", "active": 1, "queued": 0, "limit": 2}
		],
		"flows": [{"name": "", "weight": 1, "queued": 1}]
	}`, string(raw))
	require.NotContains(t, string(raw), "secret")
}

func TestConformance149RejectBesideQueue(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	require.Equal(t, []admission.Answer{admitted, queued, limited},
		d.ask(request("q1", "a"), request("q2", "a"), rejecting(request("r", "a"))))
	d.Cancel(d.now, "q2")
	d.turn()
	require.Zero(t, d.Status(d.now).Queued)
	d.Cancel(d.now, "q1")
	d.turn()
	require.Zero(t, d.Status(d.now).Active)
}

func TestConformance150MalformedLimits(t *testing.T) {
	t.Parallel()
	second := func(limit, burst int) admission.Rate {
		return admission.Rate{Limit: limit, Per: time.Second, Burst: burst}
	}
	for field, l := range map[string]admission.Limits{
		"version":         {Version: -1},
		"global":          {Global: -1},
		"default_agent":   {DefaultAgent: admission.MaxUnits + 1},
		"agents[0].limit": {Agents: agents("a", 0)},
		"agents[0].key":   {Agents: agents("", 1)},
		"agents":          {Agents: append(agents("a", 1), agents("a", 2)...)},
		"keys[0].limit":   {Keys: agents("A", -1)},
		"keys[0].key":     {Keys: agents("global", 1)},
		"max_queue":       {MaxQueue: admission.MaxQueueLength + 1},
		"queues[0].limit": {Queues: agents("A", -1)},
		"flow_share":      {FlowShare: 101},
		"flows[0].weight": {Flows: []admission.FlowWeight{{Flow: "f"}}},
		"rates[0].per":    {Rates: []admission.KeyRate{{Key: "R", Rate: admission.Rate{Limit: 1}}}},
		"rates[0].limit":  {Rates: []admission.KeyRate{{Key: "R", Rate: second(-1, 0)}}},
		"rates[0].burst":  {Rates: []admission.KeyRate{{Key: "R", Rate: admission.Rate{Limit: 1, Per: 24 * time.Hour, Burst: 1000}}}},
		"overflow":        {Overflow: "drop"},
		"queue_timeout":   {QueueTimeout: -2},
		"boost":           {Boost: 400 * 24 * time.Hour},
		"patience":        {Patience: -2},
		"lease":           {Lease: -1},
		"max_hold":        {MaxHold: -2},
		"recheck":         {Recheck: -1},
		"order[0]":        {Order: []string{""}},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			_, err := admission.NewBook(l)
			require.ErrorIs(t, err, admission.ErrInvalidLimits)
			require.ErrorContains(t, err, " "+field+": ")
			d := setup(t, admission.Limits{})
			_, err = d.SetLimits(d.now, l)
			require.ErrorIs(t, err, admission.ErrInvalidLimits)
			require.Equal(t, admission.Limits{}, d.Limits())
		})
	}
}

// The answers are stored in histories, and told to callers.
func TestAnswersAreStable(t *testing.T) {
	t.Parallel()
	require.Equal(t, []admission.Answer{
		"granted", "queued", "concurrency_limit_reached", "admission_queue_full", "queue_deadline_exceeded",
		"owner_gone", "cancelled", "draining", "infeasible", "would_deadlock", "released", "hold_exceeded",
	}, []admission.Answer{
		admission.AnswerGranted, admission.AnswerQueued, admission.AnswerLimitReached, admission.AnswerQueueFull,
		admission.AnswerDeadlineExceeded, admission.AnswerOwnerGone, admission.AnswerCancelled, admission.AnswerDraining,
		admission.AnswerInfeasible, admission.AnswerWouldDeadlock, admission.AnswerReleased, admission.AnswerHoldExceeded,
	})
	require.False(t, admission.Decision{Answer: admission.AnswerGranted}.Final())
	require.False(t, admission.Decision{Answer: admission.AnswerQueued}.Final())
	require.True(t, admission.Decision{Answer: admission.AnswerDraining}.Final())
}
