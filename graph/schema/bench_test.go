package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/schema"
)

const orderSchema = `{"type":"object","required":["approved"],"properties":{
	"approved":{"type":"boolean"},"note":{"type":"string","maxLength":100},"total":{"type":"number","minimum":0}}}`

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		_, errs := schema.Compile(json.RawMessage(orderSchema))
		require.Empty(b, errs)
	}
}

func BenchmarkValidate(b *testing.B) {
	s := compile(b, orderSchema)
	b.ReportAllocs()
	for b.Loop() {
		require.Nil(b, s.Validate(json.RawMessage(`{"approved":true,"note":"fine","total":12}`)))
	}
}
