package activities

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
)

// The search attributes of a run. Stable: servers hold them.
const (
	AttributeGraph   = "TidemillGraph"   // Keyword: the graph's id
	AttributeStatus  = "TidemillStatus"  // Keyword: paused, and again when the run moves
	AttributeWaiting = "TidemillWaiting" // KeywordList: ids of the open pauses
	AttributeTrigger = "TidemillTrigger" // Keyword: what started the run
)

// SearchAttributes lists those of our search attributes that a namespace has with
// the right type. Setting one it does not have would leave a run stuck for ever,
// so a worker asks before it starts and its runs pin the answer.
func SearchAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	response, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("activities: list search attributes of namespace %q: %w", namespace, err)
	}
	var usable []string
	for _, attribute := range []struct {
		name string
		kind enumspb.IndexedValueType
	}{
		{AttributeGraph, enumspb.INDEXED_VALUE_TYPE_KEYWORD},
		{AttributeStatus, enumspb.INDEXED_VALUE_TYPE_KEYWORD},
		{AttributeWaiting, enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST},
		{AttributeTrigger, enumspb.INDEXED_VALUE_TYPE_KEYWORD},
	} {
		if kind, ok := response.GetCustomAttributes()[attribute.name]; ok && kind == attribute.kind {
			usable = append(usable, attribute.name)
		}
	}
	return usable, nil
}
