package schema_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/schema"
)

// model is a second, direct reading of five keywords.
type model struct {
	Type       string           `json:"type,omitempty"`
	Required   []string         `json:"required,omitempty"`
	Enum       []any            `json:"enum,omitempty"`
	Minimum    *json.Number     `json:"minimum,omitempty"`
	Maximum    *json.Number     `json:"maximum,omitempty"`
	Properties map[string]model `json:"properties,omitempty"`
}

func (m model) accepts(v any) bool {
	if m.Type != "" && m.Type != typeOf(v) && (m.Type != "number" || typeOf(v) != "integer") {
		return false
	}
	if len(m.Enum) > 0 && !slices.ContainsFunc(m.Enum, func(e any) bool { return spell(e) == spell(v) }) {
		return false
	}
	if n, ok := v.(json.Number); ok {
		if m.Minimum != nil && rational(n).Cmp(rational(*m.Minimum)) < 0 || m.Maximum != nil && rational(n).Cmp(rational(*m.Maximum)) > 0 {
			return false
		}
	}
	object, ok := v.(map[string]any)
	for _, name := range m.Required {
		if _, has := object[name]; ok && !has {
			return false
		}
	}
	for name, p := range m.Properties {
		if member, has := object[name]; has && !p.accepts(member) {
			return false
		}
	}
	return true
}

func rational(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

func spell(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func typeOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if rational(x).IsInt() {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func genNumber() *rapid.Generator[json.Number] {
	return rapid.SampledFrom([]json.Number{"0", "1", "-1", "0.5", "2", "9007199254740992", "9007199254740993", "123456789012345678901234567890"})
}

func genValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), genNumber().AsAny(), rapid.SampledFrom([]string{"", "a", "b"}).AsAny(),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.SliceOfN(genValue(depth-1), 0, 2).AsAny(),
			rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), genValue(depth-1), 0, 3).AsAny(),
		)
	}
	return rapid.OneOf(leaves...)
}

func genModel(depth int) *rapid.Generator[model] {
	return rapid.Custom(func(t *rapid.T) model {
		m := model{
			Type:     rapid.SampledFrom([]string{"", "", "object", "array", "string", "number", "integer", "boolean", "null"}).Draw(t, "type"),
			Required: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2, rapid.ID[string]).Draw(t, "required"),
			Enum:     rapid.SliceOfNDistinct(genValue(1), 0, 3, spell).Draw(t, "enum"),
			Minimum:  rapid.Ptr(genNumber(), true).Draw(t, "minimum"),
			Maximum:  rapid.Ptr(genNumber(), true).Draw(t, "maximum"),
		}
		if depth > 0 {
			m.Properties = rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), genModel(depth-1), 0, 2).Draw(t, "properties")
		}
		return m
	})
}

func TestAgreesWithModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, v := genModel(2).Draw(t, "schema"), genValue(2).Draw(t, "value")
		s, errs := schema.Compile(json.RawMessage(spell(m)))
		require.Empty(t, errs)
		got := s.Validate(json.RawMessage(spell(v)))
		require.Equal(t, m.accepts(v), got == nil, "%s on %s: %v", spell(m), spell(v), got)
		require.Equal(t, got, s.Validate(json.RawMessage(spell(v))), "two answers")
	})
}
