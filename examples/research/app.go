// Package research is an example of a fork with a quorum: four sources are asked
// at once, three are enough, and one of them costs money, so a person is asked
// before it is used.
//
// [NewApp] offers the graph and its actions, which is all that a worker needs.
package research

import (
	"embed"

	"github.com/tidemill/tidemill"
)

// GraphID is the id of the graph and so the workflow type of its runs.
const GraphID = "research"

//go:embed graphs
var graphs embed.FS

// NewApp returns the graph and its actions, with shelves that know of tides and,
// the archive left out, of bridges.
func NewApp() *tidemill.App {
	app := tidemill.NewApp()
	Add(app, NewShelves())
	return app
}

// Add adds the graph, and the actions over some shelves, to an App that holds
// others too.
func Add(app *tidemill.App, shelves Shelves) {
	app.AddGraphsFS(graphs)
	tidemill.Action(app, "search", shelves.Search)
	tidemill.Action(app, "summarise", Summarise)
}
