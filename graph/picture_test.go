package graph_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// picturing is a way to draw.
type picturing struct {
	extension string
	draw      func(*graph.Document, *graph.RunView) string
}

var picturings = []picturing{{"mmd", graph.Mermaid}, {"dot", graph.DOT}, {"svg", graph.SVG}}

// onTheWay is a run of order-review with everything that pictures draw in.
func onTheWay() *graph.RunView {
	expires := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &graph.RunView{
		Nodes: []graph.NodeRecord{
			{Node: "fetch", Visits: 2, Status: graph.NodeActive},
			{Node: "triage", Visits: 1, Status: graph.NodeCompleted},
			{Node: "approve", Visits: 1, Status: graph.NodePaused},
			{Node: "broken", Visits: 1, Status: graph.NodeFailed},
		},
		Current: []graph.Current{
			{
				Node: "fetch", Address: "fetch#2", Phase: graph.PhaseBackoff, Attempt: 2,
				Waiting: "backing off before the next attempt, next at 03:04:05",
			},
			{Node: "approve", Address: "approve#1", Phase: graph.PhasePaused, Attempt: 1, Waiting: "an answer", Expires: &expires},
		},
	}
}

// What pictures say changes only on purpose.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, p := range picturings {
		for _, name := range []string{"order-review", "every-field", "family"} {
			golden(t, name+"."+p.extension, p.draw(compiled(t, readFile(t, name+".yaml")).Document, nil))
		}
		drawn := p.draw(compiled(t, readFile(t, "order-review.yaml")).Document, onTheWay())
		golden(t, "order-review.run."+p.extension, drawn)
		flat := strings.Join(strings.Fields(strings.ReplaceAll(tagless(drawn), "#35;", "#")), " ")
		for _, said := range []string{"active ×2", "attempt 2 of 3", "open: approve#1", "2026-01-02T03:04:05Z", "failed"} {
			require.Contains(t, flat, said)
		}
	}
}

// tagless is text without what stands in angle brackets.
func tagless(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(text, "<") {
		_, after, _ := strings.Cut(part, ">")
		b.WriteString(after + " ")
	}
	return b.String() + text
}

// drawing is an SVG as a reader of XML sees it.
type drawing struct {
	nodes map[string][]string // lines of the title by name, without those that every picture has
	edges []string            // "FROM TO: LABEL", by name
}

func parseSVG(t require.TestingT, text string) drawing {
	var root struct {
		Groups []struct {
			ID    string `xml:"id,attr"`
			Class string `xml:"class,attr"`
			From  string `xml:"data-from,attr"`
			To    string `xml:"data-to,attr"`
			Title string `xml:"title"`
		} `xml:"g"`
	}
	require.NoError(t, xml.Unmarshal([]byte(text), &root))
	d := drawing{nodes: map[string][]string{}}
	for _, g := range root.Groups {
		if g.Class == "edge" {
			_, label, _ := strings.Cut(g.Title, ": ")
			d.edges = append(d.edges, g.From+" "+g.To+": "+label)
		} else {
			d.nodes[g.ID] = strings.Split(g.Title, "\n")
		}
	}
	return d
}

// randomDocument is a graph of any shape, with loops, parallel ways and nodes
// that lead to themselves. It need not compile: pictures also draw what does
// not.
func randomDocument(t *rapid.T) *graph.Document {
	n := rapid.IntRange(1, 25).Draw(t, "nodes")
	target := rapid.Custom(func(t *rapid.T) string {
		if i := rapid.IntRange(0, n).Draw(t, "target"); i < n {
			return fmt.Sprintf("node-%d", i)
		}
		return graph.End
	})
	types := []graph.NodeType{graph.TypeSet, graph.TypeAction, graph.TypePause, graph.TypeWait, graph.TypeJoin, graph.TypeMap}
	text := rapid.StringOfN(rapid.Rune(), 0, 60, -1)
	doc := &graph.Document{ID: text.Draw(t, "id"), Entry: target.Filter(func(s string) bool { return s != graph.End }).Draw(t, "entry")}
	for i := range n {
		node := graph.Node{ID: fmt.Sprintf("node-%d", i)}
		if rapid.Bool().Draw(t, "branch") {
			node.Type, node.Default = graph.TypeBranch, target.Draw(t, "default")
			for range rapid.IntRange(0, 3).Draw(t, "cases") {
				node.Cases = append(node.Cases, graph.Case{When: text.Draw(t, "when"), To: target.Draw(t, "to")})
			}
		} else {
			node.Type, node.Next = rapid.SampledFrom(types).Draw(t, "type"), graph.To(target.Draw(t, "next"))
			node.Reason = text.Draw(t, "reason")
		}
		doc.Nodes = append(doc.Nodes, node)
	}
	return doc
}

// Every node and every way of a document appears in its picture, whatever the
// shape, and the picture is XML whatever the texts.
func TestPicturesShowEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := randomDocument(t)
		svg, dot := graph.SVG(doc, nil), graph.DOT(doc, nil)
		require.Equal(t, svg, graph.SVG(doc, nil), "equal arguments give equal text")
		seen := parseSVG(t, svg)
		require.Len(t, seen.nodes, len(doc.Nodes)+2)
		shown := " " + strings.Join(seen.edges, "\n ")
		name := map[string]string{graph.End: "finish"}
		for i := range doc.Nodes {
			id := fmt.Sprintf("n%d", i+1)
			name[doc.Nodes[i].ID] = id
			require.Equal(t, doc.Nodes[i].ID, seen.nodes[id][0])
			require.Contains(t, dot, "\n    "+id+" [label=\""+doc.Nodes[i].ID)
		}
		ways := 1
		for i := range doc.Nodes {
			n := &doc.Nodes[i]
			targets := []string{n.Default}
			if n.Next != nil {
				targets = []string{n.Next.To}
			}
			for _, c := range n.Cases {
				targets = append(targets, c.To)
			}
			ways += len(targets)
			for _, to := range targets {
				require.Contains(t, shown, " "+name[n.ID]+" "+name[to]+":")
				require.Contains(t, dot, "\n    "+name[n.ID]+" -> "+name[to])
			}
		}
		arrows := regexp.MustCompile(`(?m)^    \w+ -> \w+`).FindAllString(dot, -1) // a label may hold an arrow as well
		require.Len(t, arrows, ways)
		require.Contains(t, shown, " start "+name[doc.Entry]+":")
	})
}

// Text of the author must stay text in every language.
func TestPicturesEscape(t *testing.T) {
	t.Parallel()
	hostile := `</text><script>alert(1)</script> "quoted" \" \N & &lt; ]]> -- ` + "\x00\x1b"
	doc := &graph.Document{ID: hostile, Entry: "a", Nodes: []graph.Node{
		{ID: "a", Type: graph.TypePause, Reason: hostile, Next: &graph.Route{Cases: []graph.Case{{When: hostile, To: "a"}}, Default: graph.End}},
	}}
	svg := graph.SVG(doc, nil)
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if element, ok := token.(xml.StartElement); ok {
			require.NotEqual(t, "script", element.Name.Local)
		}
	}
	for line := range strings.SplitSeq(graph.DOT(doc, nil), "\n") {
		unescaped := strings.NewReplacer(`\\`, "", `\"`, "").Replace(line)
		require.Zero(t, strings.Count(unescaped, `"`)%2, line)
		require.NotContains(t, unescaped, `\N`, "Graphviz would put the node's name there")
		require.NotContains(t, line, "\x00")
	}
}

// A node that has failed for good has no next attempt.
func TestPicturesCountAttemptsUnderWay(t *testing.T) {
	t.Parallel()
	doc := compiled(t, readFile(t, "order-review.yaml")).Document
	for phase, shown := range map[graph.Phase]bool{
		graph.PhaseRunning: true, graph.PhaseBackoff: true, graph.PhaseInterrupted: true, graph.PhaseFailed: false, graph.PhaseCancelled: false,
	} {
		run := &graph.RunView{Current: []graph.Current{{Node: "fetch", Address: "fetch#1", Phase: phase, Attempt: 2}}}
		for _, p := range picturings {
			require.Equal(t, shown, strings.Contains(p.draw(doc, run), "attempt 2 of 3"), "%s in %s", phase, p.extension)
		}
	}
}

// Pictures show what a run's machine says, through the JSON of a query.
func TestRunViewSurvivesJSON(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(onTheWay())
	require.NoError(t, err)
	var read graph.RunView
	require.NoError(t, json.Unmarshal(raw, &read))
	require.Equal(t, onTheWay(), &read)
}

// A chain with many edges to one end must not take the drawing out of hand: that
// is the shape of a large graph with one node for all errors.
func TestLargePicture(t *testing.T) {
	t.Parallel()
	doc := &graph.Document{ID: "large", Entry: "n0"}
	const nodes = 200
	for i := range nodes {
		next := graph.End
		if i+1 < nodes {
			next = fmt.Sprintf("n%d", i+1)
		}
		doc.Nodes = append(doc.Nodes, graph.Node{
			ID: fmt.Sprintf("n%d", i), Type: graph.TypeAction, Next: graph.To(next),
			OnError: &graph.OnError{Route: graph.Route{To: fmt.Sprintf("n%d", nodes-1)}},
		})
	}
	require.Len(t, parseSVG(t, graph.SVG(doc, nil)).edges, 2*nodes+1)
}
