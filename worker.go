package tidemill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/workflows"
)

// WorkerOptions say how a worker runs graphs. The zero value runs the App's
// graphs on the task queue "tidemill", with no secrets and no host to reach.
type WorkerOptions struct {
	TaskQueue string      // Zero means [DefaultTaskQueue].
	Secrets   Secrets     // what secret('NAME') may name. Zero means none.
	HTTP      HTTPOptions // what the action http may reach. Zero means nothing.
	Limits    Limits      // bind runs that start here. Zero means 1 MiB each.
	// InlineSpecs lets whoever may start a run bring its document. Zero means
	// that only the App's own graphs run.
	InlineSpecs bool
	// StopGrace is how long actions go on undisturbed after the worker was told
	// to stop. Zero means 10 s; -1 is none.
	StopGrace time.Duration
	// Admission lets nodes run only with a permit. Zero means that no run asks
	// for one.
	Admission *AdmissionOptions
	// Namespace is the client's. Zero means that the client is asked.
	Namespace string
	// Worker is passed on to the SDK. [WorkerOptions.Settings] shows what is
	// changed in it. Zero means the SDK's defaults.
	Worker worker.Options
}

// Times a worker needs.
const (
	defaultStopGrace = 10 * time.Second
	// afterGrace is what the SDK waits beyond the grace, so that an action that
	// is stopped then can still be reported.
	afterGrace = 5 * time.Second
	// heartbeatThrottle is how often heartbeats reach the server at least: a
	// request to cancel an action comes back with one.
	heartbeatThrottle = activities.HeartbeatTimeout / 3
)

// WithDefaults is o with zero fields replaced by what they mean.
func (o WorkerOptions) WithDefaults() WorkerOptions {
	if o.TaskQueue == "" {
		o.TaskQueue = DefaultTaskQueue
	}
	if o.StopGrace == 0 {
		o.StopGrace = defaultStopGrace
	}
	if o.StopGrace == -1 {
		o.StopGrace = 0
	}
	o.Limits = o.Limits.WithDefaults()
	return o
}

// Validate reports everything that is wrong with the options, joined.
func (o WorkerOptions) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("tidemill: worker options: "+format, args...))
	}
	if o.StopGrace < -1 {
		refuse("StopGrace is %v; give a length of time, or -1 for none", o.StopGrace)
	}
	if o.Limits.Payload < 0 || o.Limits.State < 0 {
		refuse("Limits are negative; give sizes in bytes")
	}
	if o.Limits.Payload > maxLimit || o.Limits.State > maxLimit {
		refuse("Limits are over %d bytes, more than a Temporal server takes", maxLimit)
	}
	if o.Worker.DisableWorkflowWorker || o.Worker.LocalActivityWorkerOnly {
		refuse("Worker.DisableWorkflowWorker and Worker.LocalActivityWorkerOnly would keep graphs from running")
	}
	if _, err := activities.New(activities.Options{HTTP: o.HTTP}); err != nil {
		errs = append(errs, err)
	}
	if o.Admission != nil {
		errs = append(errs, o.Admission.Validate())
	}
	return errors.Join(errs...)
}

// maxLimit is what a server takes as one payload by default, less room for what
// travels with it.
const maxLimit = 2<<20 - 64<<10

// Settings are the SDK's options for a worker of graphs: o.Worker with the
// heartbeat and stop times that the actions' wrapper relies on, with the interceptor
// that [Acquire] needs, and without registration aliasing: with it, the SDK would
// resolve the names of actions through the worker's list of Go function names, and two
// workers could run different code for one name. So workflows of the caller's own in
// the same worker name their activities by the registered name. Only a program that
// makes its own worker needs this function.
func (o WorkerOptions) Settings() worker.Options {
	o = o.WithDefaults()
	settings := o.Worker
	if settings.MaxHeartbeatThrottleInterval == 0 || settings.MaxHeartbeatThrottleInterval > heartbeatThrottle {
		settings.MaxHeartbeatThrottleInterval = heartbeatThrottle
	}
	if settings.DefaultHeartbeatThrottleInterval == 0 || settings.DefaultHeartbeatThrottleInterval > heartbeatThrottle {
		settings.DefaultHeartbeatThrottleInterval = heartbeatThrottle
	}
	settings.DisableRegistrationAliasing = true
	settings.Interceptors = append(slices.Clip(settings.Interceptors), workflows.Interceptor())
	settings.WorkerStopTimeout = max(settings.WorkerStopTimeout, o.StopGrace+afterGrace)
	return settings
}

// NewWorker makes a worker that runs the App's graphs; the caller starts and
// stops it. It asks the server which search attributes runs may set, so the
// server must be reachable. Every mistake in the App and the options is told at
// once.
//
// The worker takes every workflow type of its task queue that is not registered
// by name. Workflows and activities of the caller's own are registered in it
// before it starts.
//
// With Admission the worker also holds the books, on a task queue of their own:
// that of the graphs with ".admission" behind it.
func NewWorker(ctx context.Context, c client.Client, a *App, o WorkerOptions) (worker.Worker, error) {
	p, err := a.prepare(ctx, c, o)
	if err != nil {
		return nil, err
	}
	o = o.WithDefaults()
	if p.combiner != nil {
		return newTwoWorkers(c, o, p), nil
	}
	w := worker.New(c, o.TaskQueue, o.Settings())
	p.register(w)
	return w, nil
}

// Register gives a worker that the caller made what it needs to run the App's
// graphs. The worker should be made with o.Settings().
//
// With Admission, the books need workers too: see [NewAdmissionWorker]. Permits
// that are given back in the process's last moments may then have to run out.
func (a *App) Register(ctx context.Context, c client.Client, r worker.Registry, o WorkerOptions) error {
	p, err := a.prepare(ctx, c, o)
	if err != nil {
		return err
	}
	p.register(r)
	return nil
}

// prepared is what a worker of graphs is made of.
type prepared struct {
	register func(worker.Registry)
	combiner combiner // nil: nobody is asked for permits, or somebody else's Admitter
}

// prepare checks everything, and gives what registers it.
func (a *App) prepare(ctx context.Context, c client.Client, o WorkerOptions) (prepared, error) {
	catalogue, appErr := a.catalogue()
	if err := errors.Join(appErr, o.Validate()); err != nil {
		return prepared{}, err
	}
	attributes, err := usableAttributes(ctx, c, o.Namespace)
	if err != nil {
		return prepared{}, err
	}
	o = o.WithDefaults()
	settings := activities.Options{
		Registry: a.registry, Catalogue: catalogue, Secrets: o.Secrets, HTTP: o.HTTP, Limits: o.Limits,
		AllowInlineSpecs: o.InlineSpecs, SearchAttributes: attributes, StopGrace: o.StopGrace,
	}
	var own combiner
	if o.Admission != nil {
		if own, err = o.admit(c, &settings); err != nil {
			return prepared{}, err
		}
	}
	acts, err := activities.New(settings)
	if err != nil {
		return prepared{}, err
	}
	return prepared{combiner: own, register: func(r worker.Registry) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
		acts.Register(r)
	}}, nil
}

// usableAttributes lists the search attributes that runs may set. A server that
// does not tell has none: runs work without them.
func usableAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	namespace, err := namespaceOf(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	attributes, err := activities.SearchAttributes(ctx, c, namespace)
	var denied *serviceerror.PermissionDenied
	var unimplemented *serviceerror.Unimplemented
	if errors.As(err, &denied) || errors.As(err, &unimplemented) {
		return nil, nil
	}
	if err != nil {
		return nil, edgeError(err)
	}
	return attributes, nil
}
