// Package orderapproval is an example of a child graph: an order is priced by one
// graph and checked by another, order-check, which may ask a person. The pause of
// the child is answered at the parent.
//
// [NewApp] offers both graphs and their actions, which is all that a worker needs.
package orderapproval

import (
	"embed"

	"github.com/tidemill/tidemill"
)

// GraphID is the id of the graph that orders begin with, and so the workflow type
// of its runs.
const GraphID = "order-approval"

//go:embed graphs
var graphs embed.FS

// NewApp returns the graphs and their actions, with a shop of three orders.
func NewApp() *tidemill.App {
	app := tidemill.NewApp()
	Add(app, NewShop())
	return app
}

// Add adds the graphs, and the actions of a shop, to an App that holds others too.
func Add(app *tidemill.App, shop *Shop) {
	app.AddGraphsFS(graphs)
	tidemill.Action(app, "load-order", shop.Load)
	tidemill.Action(app, "price-order", shop.Price)
	tidemill.Action(app, "score-customer", shop.Score)
	tidemill.Action(app, "place-order", shop.Place)
}
