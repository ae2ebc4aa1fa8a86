// Package orderreview is the worked example: a graph that reviews orders, and the
// one Go action it needs besides the built-in ones.
//
// The graph stands in graphs/order-review.yaml. [NewApp] offers it together with
// the action ship, which is all that a worker needs; see cmd/worker. The graph
// speaks to the shop of package orders.
package orderreview

import (
	_ "embed"
	"strings"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

// GraphID is the id of the graph and so the workflow type of its runs.
const GraphID = "order-review"

//go:embed graphs/order-review.yaml
var document string

// Document is the graph with its URLs leading to the shop at the address, a host
// and port. With [orders.DefaultAddress] it is the file as it stands.
func Document(address string) []byte {
	return []byte(strings.ReplaceAll(document, orders.DefaultAddress, address))
}

// NewApp returns the graph and its action, for a shop at the address.
func NewApp(address string) *tidemill.App {
	app := tidemill.NewApp()
	Add(app, address)
	return app
}

// Add adds the graph and its action to an App that holds others too.
func Add(app *tidemill.App, address string) {
	app.AddGraph("order-review.yaml", Document(address))
	tidemill.Action(app, "ship", Shipping{Address: address}.Ship)
}
