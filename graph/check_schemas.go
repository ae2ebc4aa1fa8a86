package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/schema"
)

// schemaAt reports everything that is wrong with one JSON Schema.
func (c *checker) schemaAt(at pointer, raw json.RawMessage) {
	if raw == nil {
		return
	}
	_, found := schema.Compile(raw)
	for _, e := range found {
		c.fail(at+pointer(e.Pointer), codeInvalidSchema, e.Fix, "%s: %s", e.Reason, e.Message)
	}
}
