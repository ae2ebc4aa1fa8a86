// Package examples puts all examples into one App, as `make dev` offers them. Each
// is a package of its own, with its graphs, its actions and a test that tells its
// story; docs/examples.md shows them all.
package examples

import (
	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/examples/features"
	nightlybatch "github.com/tidemill/tidemill/examples/nightly-batch"
	orderapproval "github.com/tidemill/tidemill/examples/order-approval"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/examples/research"
)

// NewApp returns all graphs and actions of the examples, with the shop of
// order-review and the service of admission at their addresses, hosts and ports.
func NewApp(shop, geocoder string) *tidemill.App {
	app := tidemill.NewApp()
	orderreview.Add(app, shop)
	orderapproval.Add(app, orderapproval.NewShop())
	research.Add(app, research.NewShelves())
	nightlybatch.Add(app, nightlybatch.NewBank())
	admission.Add(app, geocoder)
	features.Add(app, features.ServiceAddress)
	return app
}
