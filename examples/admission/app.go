// Package admission is an example of admission: three tenants share a service that
// takes only so many calls at a time and so many a second, and one of them floods
// it. The limits stand with the worker, and each tenant gets its part.
//
// [NewApp] offers the graph and its action, [Options] the limits; that is all that a
// worker needs. [API] is the service, which keeps record of who called it when.
package admission

import (
	"embed"

	"github.com/tidemill/tidemill"
)

// GraphID is the id of the graph and so the workflow type of its runs.
const GraphID = "geocode"

//go:embed graphs
var graphs embed.FS

// NewApp returns the graph and its action, for a service at the address, a host and
// port.
func NewApp(service string) *tidemill.App {
	app := tidemill.NewApp()
	Add(app, service)
	return app
}

// Add adds the graph and its action to an App that holds others too.
func Add(app *tidemill.App, service string) {
	app.AddGraphsFS(graphs)
	tidemill.Action(app, Action, Geocoder{Address: service}.Lookup)
}
