package features

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

// WarehouseQueue is the task queue of the other team's worker.
const WarehouseQueue = "warehouse"

// PickInput is what the graph foreign writes under args.
type PickInput struct {
	Item string `json:"item"`
}

// Shelf is where an item lies.
type Shelf struct {
	Shelf string `json:"shelf"`
}

// Warehouse registers what another team has: an ordinary activity that knows
// nothing of graphs. It could as well be written in Java, Python or TypeScript.
func Warehouse(r worker.Registry) {
	r.RegisterActivityWithOptions(pickItem, activity.RegisterOptions{Name: "PickItem"})
}

func pickItem(_ context.Context, in PickInput) (Shelf, error) {
	if in.Item != "lamp" {
		return Shelf{}, temporal.NewApplicationError("there is no "+in.Item, "NoStock")
	}
	return Shelf{Shelf: "B4"}, nil
}
