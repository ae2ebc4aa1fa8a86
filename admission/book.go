package admission

import "time"

// Book holds the permits in use and the requests that wait, and decides who is
// next. Calls tell it what happened; [Book.Decide] says what follows. It is not
// safe for concurrent use.
//
// Time is an argument of every call that needs it, and never runs backwards: a
// time before that of an earlier call counts as that of the earlier call.
type Book struct {
	rules  rules
	limits Limits    // as they were given
	over   Overrides // what was changed live
	paused []string  // keys, sorted
	halted bool      // all is paused
	drain  bool

	clock int64
	token uint64 // of the latest grant
	base  uint64 // the tokens begin after it
	seq   uint64 // of the latest submit
	v     int64  // virtual time: the start of the latest grant
	ahead int64  // the greatest tag of all flows

	entries map[string]*entry
	all     bag[*entry]
	owners  map[Owner]*bag[mate]
	signs   map[string]*lane
	lanes   bag[*lane]
	names   map[string]*flow
	flows   bag[*flow]
	hopeful bag[hope] // flows with candidates for a claim
	gates   gates
	holds   bag[*hold]

	queued  int      // entries with a place in the queue
	claims  []*entry // in the order of promotion
	fresh   spot     // lanes whose head has not been tried
	touched []*gate  // gates that gained room
	alarms  heap[bell]

	newcomers []*entry // not answered yet, by seq
	again     []*entry // asked again since the last turn
	asked     []Owner  // whose life is in doubt
	out       []Decision

	memory memory
	sweep  int // number of gates and flows at which to look for idle ones
}

// NewBook makes an empty book. The error matches [ErrInvalidLimits].
func NewBook(l Limits) (*Book, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	return newBook(l, Overrides{}), nil
}

func newBook(l Limits, over Overrides) *Book {
	return &Book{
		limits: l, over: over, rules: compile(l, over),
		entries: map[string]*entry{},
		owners:  map[Owner]*bag[mate]{},
		signs:   map[string]*lane{},
		names:   map[string]*flow{},
		gates:   gates{keys: map[string]*gate{}, rates: map[string]*gate{}},
		memory:  newMemory(),
		sweep:   sweepAt,
	}
}

// BeginAfter has the tokens of a book that has given none begin after a number. Whoever
// keeps a book where it may be lost gives a time: the tokens of the book that follows it
// are then greater than those of the lost one, as a fence needs them to be.
func (b *Book) BeginAfter(token uint64) {
	if b.token == 0 {
		b.token, b.base = token, token
	}
}

// Limits is the configuration as it was given last; without what was changed
// live and without defaults.
func (b *Book) Limits() Limits { return b.limits }

// tick takes the time of a call.
func (b *Book) tick(now time.Time) int64 {
	b.clock = max(b.clock, nanos(now))
	return b.clock
}

// flow finds or makes a flow.
func (b *Book) flow(name string) *flow {
	f := b.names[name]
	if f == nil {
		f = &flow{name: name, weight: b.rules.weight(name)}
		b.names[name] = f
		b.flows.add(f)
	}
	return f
}
