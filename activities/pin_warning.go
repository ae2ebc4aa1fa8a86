package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/graph"
)

// warn writes into the worker's log what is strange about a pin and no reason to refuse
// it: a document that has the revision of the worker's own and another content.
func (a *Activities) warn(ctx context.Context, pin Pin) {
	own, known := a.options.Catalogue.Get(pin.Document.ID)
	if !known || !activity.IsActivity(ctx) {
		return
	}
	pinned := &graph.Compiled{Document: pin.Document, Fingerprint: pin.Fingerprint}
	if warning := graph.RevisionWarning(own, pinned); warning != "" {
		activity.GetLogger(ctx).Warn(warning)
	}
}
