package tidemill

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/workflows"
)

// Times of stopping a worker of semaphores.
const (
	flushWithin     = 5 * time.Second // for what graphs have given back last
	semaphoresGrace = 3 * time.Second // for telling owners what was decided last
	// packWithin is how long a book may think. Packing a full one to be carried over
	// takes a second on a busy machine, and one that is stopped in that stays so.
	packWithin = 10 * time.Second
)

// combiner is the Admitter that this package makes: it is closed with the worker.
type combiner interface {
	permits.Admitter
	// Close sends what was not heard yet.
	Close(ctx context.Context) error
}

// admit lets activities ask for permits: the Admitter of the options, or one that is
// made here and returned.
func (o WorkerOptions) admit(c client.Client, settings *activities.Options) (combiner, error) {
	var err error
	if settings.Classifier, err = o.Admission.classifier(); err != nil {
		return nil, err
	}
	if settings.Admitter = o.Admission.Admitter; settings.Admitter != nil {
		return nil, nil //nolint:nilnil // another Admitter is not ours to close
	}
	own, err := permits.NewCombiner(permits.CombinerOptions{
		Client: c, TaskQueue: permits.TaskQueue(o.TaskQueue), Limits: o.Admission.limits(), Owners: permits.TemporalOwners(c),
	})
	if err != nil {
		return nil, err
	}
	settings.Admitter = own
	return own, nil
}

// NewAdmissionWorker makes a worker that holds the books of admission for the graphs
// of o.TaskQueue, and nothing else. Only a program that makes its workers itself
// needs it, beside [App.Register]: [NewWorker] has one within. The server must be
// reachable.
func NewAdmissionWorker(ctx context.Context, c client.Client, o WorkerOptions) (worker.Worker, error) {
	if o.Admission == nil || o.Admission.Admitter != nil {
		return nil, errors.New("tidemill: admission: there are no books to hold; set Admission, without an Admitter of your own")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if _, err := namespaceOf(ctx, c, o.Namespace); err != nil {
		return nil, err
	}
	return newSemaphores(c, o.WithDefaults(), o.Worker.OnFatalError), nil
}

// newSemaphores makes the worker of semaphores. Its slots are its own, so that runs
// that wait for a permit can never keep it from being given.
func newSemaphores(c client.Client, o WorkerOptions, failed func(error)) worker.Worker {
	w := worker.New(c, permits.TaskQueue(o.TaskQueue), worker.Options{
		Identity:                               o.Worker.Identity,
		Interceptors:                           o.Worker.Interceptors,
		MaxConcurrentWorkflowTaskExecutionSize: o.Admission.MaxConcurrent,
		WorkerStopTimeout:                      semaphoresGrace,
		DeadlockDetectionTimeout:               packWithin,
		DisableRegistrationAliasing:            true,
		OnFatalError:                           failed,
	})
	w.RegisterWorkflowWithOptions(workflows.Admission, workflow.RegisterOptions{Name: permits.WorkflowType})
	permits.NewGateway(permits.TemporalOwners(c)).Register(w)
	return w
}

// twoWorkers is a worker of graphs with one of semaphores beside it. What is
// registered in it goes to the graphs.
type twoWorkers struct {
	worker.Worker // of graphs

	semaphores worker.Worker
	combiner   combiner

	stop     sync.Once
	stopping chan struct{}
	failure  failure
}

// failure is the first error of two workers.
type failure struct {
	mu  sync.Mutex
	err error
}

func newTwoWorkers(c client.Client, o WorkerOptions, p prepared) *twoWorkers {
	w := &twoWorkers{combiner: p.combiner, stopping: make(chan struct{})}
	failed := w.failed(o.Worker.OnFatalError)
	settings := o.Settings()
	settings.OnFatalError = failed
	w.Worker = worker.New(c, o.TaskQueue, settings)
	p.register(w.Worker)
	w.semaphores = newSemaphores(c, o, failed)
	return w
}

// Start starts both, the semaphores first: graphs may ask at once.
func (w *twoWorkers) Start() error {
	if err := w.semaphores.Start(); err != nil {
		return err
	}
	if err := w.Worker.Start(); err != nil {
		w.semaphores.Stop()
		return err
	}
	return nil
}

// Run starts both, and stops them at an interrupt, or when either fails.
func (w *twoWorkers) Run(interrupt <-chan any) error {
	if err := w.Start(); err != nil {
		return err
	}
	select {
	case <-interrupt:
	case <-w.stopping:
	}
	w.Stop()
	return w.failure.get()
}

// Stop stops the graphs, sends what they have given back last, and stops the
// semaphores. Every call returns when that is done.
func (w *twoWorkers) Stop() {
	w.stop.Do(func() {
		close(w.stopping)
		w.Worker.Stop()
		ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
		defer cancel()
		// What could not be sent is given back when its lease runs out.
		_ = w.combiner.Close(ctx)
		w.semaphores.Stop()
	})
}

// failed ends both when either fails. The hook hears of the first failure.
func (w *twoWorkers) failed(hook func(error)) func(error) {
	return func(err error) {
		if w.failure.set(err) && hook != nil {
			hook(err)
		}
		w.Stop()
	}
}

// set keeps the first error, and reports whether this is it.
func (f *failure) set(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return false
	}
	f.err = err
	return true
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
