// Package features holds one small graph for each feature, in the folder graphs,
// and the Go functions that they name.
//
// [NewApp] offers them all, which is what a worker needs. Some of the graphs
// speak to neighbours: an HTTP service, see [Service], and a worker of another
// team, see [Warehouse]. The program cmd/neighbours runs both.
package features

import (
	"bytes"
	"embed"
	"path"

	"github.com/tidemill/tidemill"
)

//go:embed graphs
var graphs embed.FS

// folder is where the graphs are, in the source and in the program.
const folder = "graphs"

// NewApp returns the graphs and their functions, for a service at the address, a
// host and port.
func NewApp(service string) *tidemill.App {
	app := tidemill.NewApp()
	Add(app, service)
	return app
}

// Add adds the graphs and their functions to an App that holds others too. With
// [ServiceAddress] the graphs are the files as they stand.
func Add(app *tidemill.App, service string) {
	for _, name := range documents() {
		app.AddGraph(name, document(name, service))
	}
	addActions(app)
	addCallbacks(app)
}

// documents are the names of the graphs' files.
func documents() []string {
	entries, err := graphs.ReadDir(folder)
	if err != nil {
		panic(err) // the folder is part of the program
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names
}

// document is a graph with its URLs leading to the service.
func document(name, service string) []byte {
	text, err := graphs.ReadFile(path.Join(folder, name))
	if err != nil {
		panic(err) // the file is part of the program
	}
	return bytes.ReplaceAll(text, []byte(ServiceAddress), []byte(service))
}

func addActions(app *tidemill.App) {
	tidemill.Action(app, "upper", Upper)
	tidemill.Action(app, "quote", Quote)
	tidemill.Action(app, "first-number", FirstNumber)
	tidemill.Action(app, "flaky", Flaky)
	tidemill.Action(app, "charge", Charge)
	tidemill.Action(app, "inspect", Inspect)
}

func addCallbacks(app *tidemill.App) {
	tidemill.Callback(app, "least-busy-team", 1, LeastBusyTeam)
	tidemill.Callback(app, "too-few-words", 1, TooFewWords)
	tidemill.Callback(app, "sentence", 1, Sentence)
	tidemill.Callback(app, "long-or-short", 1, LongOrShort)
	tidemill.Callback(app, "highest-bid", 1, HighestBid)
}
