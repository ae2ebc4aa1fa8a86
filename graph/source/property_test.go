package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/source"
	"github.com/tidemill/tidemill/graph/value"
)

// anyValue draws a value whose text any form can hold as it is.
func anyValue(depth int) *rapid.Generator[any] {
	word := rapid.StringOf(rapid.RuneFrom([]rune("ab yn01:-#'\"\\{}[],&*!|>%@`~.é😀\n\t<$")))
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), word.AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
			rapid.MapOfN(word, anyValue(depth-1), 0, 4).AsAny())
	}
	return rapid.OneOf(kinds...)
}

// block writes canonical JSON as block YAML: one item or member on each line.
func block(b *strings.Builder, raw json.RawMessage, indent string) {
	kind := value.KindOf(raw)
	if kind != value.KindObject && kind != value.KindArray || len(raw) == 2 {
		fmt.Fprintf(b, " %s\n", raw)
		return
	}
	b.WriteByte('\n')
	if kind == value.KindObject {
		o, _ := value.ParseObject(raw)
		for _, m := range o {
			fmt.Fprintf(b, "%s? %s\n%s:", indent, value.AppendString(nil, m.Key), indent)
			block(b, m.Value, indent+"  ")
		}
		return
	}
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items)
	for _, item := range items {
		b.WriteString(indent + "-")
		block(b, item, indent+"  ")
	}
}

// Guards F9: one document in YAML, in flow or in blocks, and in JSON is one value.
func TestFormsAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, err := value.Marshal(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}|on|1`), anyValue(3), 1, 5).Draw(t, "document"))
		require.NoError(t, err)
		var blocks strings.Builder
		block(&blocks, want, "")
		for name, text := range map[string]string{
			"a.json": string(want), "flow.yaml": string(want), "block.yaml": "---" + blocks.String(),
		} {
			n, problems := source.ParseNamed(name, []byte(text))
			require.Empty(t, problems, "%s: %s", name, text)
			got, err := n.JSON()
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), name)
		}
	})
}

// FuzzParse checks that no document brings the reader down, and that what it
// gives without a problem is a value.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, 'y', \"z\"]\n", `{"a":[1.5,null,"\ud83d\ude00"]}`, "a: &x {b: *x}", "a: &x [1]\nb: *x\n<<: *x", "? [a]\n: b", "!t a: !!int 1",
		"a: yes\na: 0123\n12:30: .inf", "k: |\n  t\n\n# c\n- x", "--- a\n...\n--- b", "{a: b, \"c\": [1,}", "\ufeff[", "\xff", "a:\n\t- b\r\n\rc: d",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"", "a.json", "a.yaml"} {
			n, problems := source.ParseNamed(name, data)
			requireWorded(t, problems)
			for _, p := range problems {
				require.Positive(t, p.Pos.Line, p.String())
				require.Positive(t, p.Pos.Column, p.String())
				require.NotEmpty(t, p.Code)
			}
			if len(problems) > 0 {
				continue
			}
			raw, err := n.JSON()
			require.NoError(t, err)
			again, problems := source.ParseNamed("a.json", raw)
			require.Empty(t, problems)
			back, err := again.JSON()
			require.NoError(t, err)
			require.Equal(t, string(raw), string(back))
		}
	})
}
