package admission

import "time"

// None turns a bound or a duration of [Limits] or [Request] off.
const None = -1

// The hard bounds of a book.
const (
	MaxKeys        = 8         // keys of one request besides its agent, and rates of one request
	MaxUnits       = 1_000_000 // units, cost, limit or burst of one key
	MaxWeight      = 1_000     // weight of a flow
	MaxQueueLength = 4_096     // requests in the queue of one book
	MaxNameBytes   = 256       // bytes of an agent, key or flow
	MaxIDBytes     = 1_024     // bytes of a request id and of each part of an owner
	GrantsPerTurn  = 500       // grants of one [Book.Decide]
)

// Limits is the configuration of a book. The zero value works.
//
// Where a key is named, a name that ends in `*` stands for every key that
// begins with the text before it; the exact name wins, then the longest such
// text. A key for which nothing stands is unknown, and a request that names it
// is answered [AnswerInfeasible].
type Limits struct {
	// Version orders configurations: [Book.SetLimits] refuses an older one.
	Version int64 `json:"version,omitempty"`

	Global       int        `json:"global,omitempty"`        // requests that name an agent, at a time. Zero means 1024.
	DefaultAgent int        `json:"default_agent,omitempty"` // per agent without an entry of its own. Zero means 64.
	Agents       []KeyLimit `json:"agents,omitempty"`        // per agent, by its name
	Keys         []KeyLimit `json:"keys,omitempty"`          // per named key; 0 stands for a pause
	Rates        []KeyRate  `json:"rates,omitempty"`         // per rate key

	MaxQueue  int          `json:"max_queue,omitempty"`  // requests that wait. Zero means 1024; None: nobody waits.
	Queues    []KeyLimit   `json:"queues,omitempty"`     // requests that wait, per key (an agent is `agent:NAME`)
	Flows     []FlowWeight `json:"flows,omitempty"`      // weights of flows. A flow without an entry weighs 1.
	FlowShare int          `json:"flow_share,omitempty"` // percent of the queue one flow may fill while another waits, at least 16 requests. Zero means 25; None: no share.

	Overflow     Overflow      `json:"overflow,omitempty"`      // of requests that do not say. Zero means OverflowReject.
	QueueTimeout time.Duration `json:"queue_timeout,omitempty"` // of requests that do not say. Zero means 30 s; None: no timeout.

	Boost    time.Duration `json:"boost,omitempty"`    // what priority 100 is worth over 50. Zero means 10 min; None: priorities are ignored.
	Patience time.Duration `json:"patience,omitempty"` // wait after which a wide head claims room. Zero means 30 s; None: never.
	Lease    time.Duration `json:"lease,omitempty"`    // between two signs of life of an owner. Zero means 1 min.
	MaxHold  time.Duration `json:"max_hold,omitempty"` // after which a permit ends whatever its owner does. Zero means 24 h; None: never.
	Recheck  time.Duration `json:"recheck,omitempty"`  // next check of a request that waits for somebody else. Zero means 5 s.

	// Order declares the order in which one holder may take keys one after the
	// other: a key belongs to the longest entry it begins with, a key without
	// entry comes last, and keys of one entry follow each other by name. Empty
	// means trigger:, lane:, global, agent:.
	Order []string `json:"order,omitempty"`
}

// KeyLimit gives a key, or every key of a prefix, its number of units.
type KeyLimit struct {
	Key   string `json:"key"`
	Limit int    `json:"limit"`
}

// KeyRate gives a rate key, or every rate key of a prefix, its rate.
type KeyRate struct {
	Key string `json:"key"`
	Rate
}

// Rate allows Limit units of cost per Per, and Burst at once after a silence:
// never more than Limit + Burst in any window of Per.
type Rate struct {
	Limit int           `json:"limit"`           // 0 stands for a pause
	Per   time.Duration `json:"per"`             //
	Burst int           `json:"burst,omitempty"` // Zero means Limit.
}

// FlowWeight gives a flow its share of the grants.
type FlowWeight struct {
	Flow   string `json:"flow"`
	Weight int    `json:"weight"`
}

// Overflow says what happens to a request that cannot be granted at once.
type Overflow string

// The overflow choices.
const (
	OverflowReject Overflow = "reject" // answered concurrency_limit_reached
	OverflowQueue  Overflow = "queue"  // takes a place in the queue
)

// WithDefaults is a copy in which every zero that means something else is
// replaced by what it means. The lists are shared.
func (l Limits) WithDefaults() Limits {
	l.Global = or(l.Global, 1024)
	l.DefaultAgent = or(l.DefaultAgent, 64)
	l.MaxQueue = or(l.MaxQueue, 1024)
	l.FlowShare = or(l.FlowShare, 25)
	l.Overflow = or(l.Overflow, OverflowReject)
	l.QueueTimeout = or(l.QueueTimeout, 30*time.Second)
	l.Boost = or(l.Boost, 10*time.Minute)
	l.Patience = or(l.Patience, 30*time.Second)
	l.Lease = or(l.Lease, time.Minute)
	l.MaxHold = or(l.MaxHold, 24*time.Hour)
	l.Recheck = or(l.Recheck, 5*time.Second)
	if len(l.Order) == 0 {
		l.Order = []string{"trigger:", "lane:", KeyGlobal, KeyAgentPrefix}
	}
	return l
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
