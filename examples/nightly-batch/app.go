// Package nightlybatch is an example of maps: rates are fetched and interest is
// posted for a list of accounts, a few at a time; some may fail, and when too many
// do the batch raises an alarm.
//
// [NewApp] offers the graph and its actions, which is all that a worker needs.
package nightlybatch

import (
	"embed"

	"github.com/tidemill/tidemill"
)

// GraphID is the id of the graph and so the workflow type of its runs.
const GraphID = "nightly-batch"

//go:embed graphs
var graphs embed.FS

// NewApp returns the graph and its actions, with a bank of ten accounts of which
// one is closed.
func NewApp() *tidemill.App {
	app := tidemill.NewApp()
	Add(app, NewBank())
	return app
}

// Add adds the graph, and the actions of a bank, to an App that holds others too.
func Add(app *tidemill.App, bank *Bank) {
	app.AddGraphsFS(graphs)
	tidemill.Action(app, "list-accounts", bank.List)
	tidemill.Action(app, "rate-of", bank.Rate)
	tidemill.Action(app, "post-interest", bank.Post)
	tidemill.Action(app, "alarm", bank.Alarm)
}
