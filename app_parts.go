package tidemill

import (
	"errors"

	"github.com/tidemill/tidemill/activities"
)

// ActionFunc is an action that reads its arguments itself, for [App.With].
type ActionFunc = activities.ActionFunc

// With is a copy of the App in which some actions are others, by name, whether it has
// actions of these names or not; http can be among them. It is for tests, and for
// places where an action must not do what it does elsewhere. What is added to one of
// the two Apps later is not in the other.
func (a *App) With(actions map[string]ActionFunc) *App {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &App{registry: a.registry, sources: a.sources[:len(a.sources):len(a.sources)], built: a.built, err: a.err}
	for name, fn := range actions { // each is independent of the others
		c.registry = c.registry.With(name, fn)
	}
	return c
}

// Parts are the functions and the graphs of the App, the graphs linked. They are for
// programs that run graphs in another way than by a worker, such as the test kit.
func (a *App) Parts() (*activities.Registry, *activities.Catalogue, error) {
	catalogue, err := a.catalogue()
	if err = errors.Join(err, a.registry.Err()); err != nil {
		return nil, nil, err
	}
	return a.registry, catalogue, nil
}
