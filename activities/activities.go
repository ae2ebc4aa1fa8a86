package activities

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/graph"
)

// The names of our own activities. Stable: histories hold them.
const (
	NamePin    = reservedPrefix + "pin"    // local: what a run binds itself to
	NameDecide = reservedPrefix + "decide" // local: evaluates what comes next
	NameFlush  = reservedPrefix + "flush"  // ends a workflow task that has grown long
	NameLocal  = reservedPrefix + "local"  // local: one attempt of an action in mode local

	NameAcquire = reservedPrefix + "acquire" // local: asks for the permit of an attempt
	NameRelease = reservedPrefix + "release" // local: gives one back
	NameSubmit  = reservedPrefix + "submit"  // local: asks for a permit in workflow code
)

// The names of the built-in actions.
const (
	NameHTTP = "http"
	NameFail = "fail"
)

// HeartbeatTimeout is what the interpreter gives an action's activity: within
// this time a lost worker is noticed. Workers should let heartbeats through every
// third of it (MaxHeartbeatThrottleInterval), since a request to cancel comes
// back with one.
const HeartbeatTimeout = 15 * time.Second

// Backstop is how much longer than the node's timeout the server waits for an
// attempt. The wrapper keeps the timeout itself, so a lost worker is always seen
// by its missing heartbeats and never taken for an action that ran out of time.
const Backstop = HeartbeatTimeout

// Options are what a worker's activities are built from. The zero value offers
// the built-in actions, no graph and no secret, and lets http reach nothing.
type Options struct {
	Registry  *Registry
	Catalogue *Catalogue
	Secrets   Secrets     // nil: no name is allowed
	HTTP      HTTPOptions // what the http action may reach
	// Limits are pinned by runs that start here. Zero means the defaults.
	Limits graph.Limits
	// AllowInlineSpecs lets a run bring its own document.
	AllowInlineSpecs bool
	// SearchAttributes are those the server has; see [SearchAttributes].
	SearchAttributes []string
	// ContinueAt is how many events, with five for each open activity, a run has when it
	// is to continue as new; sooner when the server suggests it. Zero means 5,000.
	ContinueAt int
	// StopGrace is how long actions go on undisturbed once the worker was told
	// to stop. The worker's stop timeout should exceed it by five seconds.
	StopGrace time.Duration
	// Classifier and Admitter go together. Nil: runs that start here know no
	// admission.
	Classifier permits.Classifier // what an attempt needs
	Admitter   permits.Admitter   // who is asked for it
}

// defaultContinueAt is a tenth of the events that a server takes before it ends a run.
const defaultContinueAt = 5_000

// Activities are the activities of one worker. They are safe for concurrent use.
type Activities struct {
	options    Options
	actions    map[string]*action
	language   *language
	programs   *cache[*graph.Program]
	evaluators *cache[*graph.Evaluator]
}

// How many compiled nodes and graphs a worker keeps.
const (
	keptPrograms   = 1024
	keptEvaluators = 128
)

// New checks the options, links the graphs and makes the activities. Every error
// of registration is reported.
func New(o Options) (*Activities, error) {
	if o.Registry == nil {
		o.Registry = NewRegistry()
	}
	if o.Secrets == nil {
		o.Secrets = EnvSecrets()
	}
	if o.Catalogue == nil {
		o.Catalogue = NewCatalogue(o.Registry)
	}
	if o.ContinueAt <= 0 {
		o.ContinueAt = defaultContinueAt
	}
	o.Limits = o.Limits.WithDefaults()
	fetcher, err := newFetcher(o.HTTP)
	if err := errors.Join(o.Registry.Err(), o.Catalogue.Link(), err, o.checkAdmission()); err != nil {
		return nil, err
	}
	language, err := newLanguage()
	if err != nil {
		return nil, err
	}
	a := &Activities{
		options: o, language: language,
		actions:    maps.Clone(o.Registry.actions),
		programs:   newCache[*graph.Program](keptPrograms),
		evaluators: newCache[*graph.Evaluator](keptEvaluators),
	}
	a.builtIn(NameHTTP, fetcher.act)
	a.builtIn(NameFail, fail)
	return a, nil
}

// ErrAdmission is returned by [New] for a classifier without an admitter, or one
// without the other: such a worker would hold runs up, or let them pass unasked.
var ErrAdmission = errors.New("activities: a classifier and an admitter go together; give both or none")

func (o *Options) checkAdmission() error {
	if (o.Classifier == nil) != (o.Admitter == nil) {
		return ErrAdmission
	}
	return nil
}

// admissionDomain is what runs that start here pin: where they ask when no rule
// says otherwise; empty without admission.
func (o *Options) admissionDomain() string {
	if o.Classifier == nil || o.Admitter == nil {
		return ""
	}
	return permits.DefaultDomain
}

// builtIn adds an action that every worker has, unless another was put in its place.
func (a *Activities) builtIn(name string, call ActionFunc) {
	if a.actions[name] == nil {
		a.actions[name] = &action{name: name, call: call}
	}
}

// builtin reports whether name is an action every worker has.
func builtin(name string) bool { return name == NameHTTP || name == NameFail }

// Actions lists the names of all actions, built-in ones included, sorted.
func (a *Activities) Actions() []string { return slices.Sorted(maps.Keys(a.actions)) }

// Registrar is the part of a worker, or of a test environment, that takes
// activities.
type Registrar interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Register gives the worker every action under its own name, and our own
// activities.
func (a *Activities) Register(r Registrar) {
	for _, name := range a.Actions() {
		r.RegisterActivityWithOptions(plain(a.wrap(a.actions[name])), activity.RegisterOptions{Name: name})
	}
	r.RegisterActivityWithOptions(plain(a.Pin), activity.RegisterOptions{Name: NamePin})
	r.RegisterActivityWithOptions(plain(a.Decide), activity.RegisterOptions{Name: NameDecide})
	r.RegisterActivityWithOptions(plain(a.Local), activity.RegisterOptions{Name: NameLocal})
	r.RegisterActivityWithOptions(plain(a.Acquire), activity.RegisterOptions{Name: NameAcquire})
	r.RegisterActivityWithOptions(plain(a.Submit), activity.RegisterOptions{Name: NameSubmit})
	r.RegisterActivityWithOptions(a.Release, activity.RegisterOptions{Name: NameRelease})
	r.RegisterActivityWithOptions(a.Flush, activity.RegisterOptions{Name: NameFlush})
}

// program is the compiled form of a node, kept by what the node says.
func (a *Activities) program(node *graph.Node) (*graph.Program, *graph.Failure) {
	key, err := digest(node)
	if err != nil {
		return nil, graph.Failf(graph.ErrTypeInvalidDocument, "the node cannot be read: %v", err)
	}
	p, err := a.programs.get(key, func() (*graph.Program, error) { return a.language.compile(node) })
	if err != nil {
		return nil, graph.Failf(graph.ErrTypeInvalidDocument, "node %q does not compile in this worker: %v", node.ID, err)
	}
	return p, nil
}

// language lets one goroutine at a time use the compiler, which is costly to
// make.
type language struct {
	mu       sync.Mutex
	compiler *graph.Language
}

func newLanguage() (*language, error) {
	compiler, err := graph.NewLanguage()
	if err != nil {
		return nil, err
	}
	return &language{compiler: compiler}, nil
}

func (l *language) compile(node *graph.Node) (*graph.Program, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.compiler.CompileTask(node)
}
