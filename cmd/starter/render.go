package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// picture is the document that render prints.
type picture struct {
	Format string `json:"format"`
	Text   string `json:"text"`
}

// drawer is how a document is drawn in a format.
type drawer struct {
	format string
	draw   func(*graph.Document, *graph.RunView) string
}

// drawers lists the formats of render, the default one first.
func drawers() []drawer {
	return []drawer{{"mermaid", graph.Mermaid}, {"dot", graph.DOT}, {"svg", graph.SVG}}
}

func drawerOf(format string) (drawer, error) {
	var known []string
	for _, d := range drawers() {
		if d.format == format {
			return d, nil
		}
		known = append(known, d.format)
	}
	return drawer{}, usage(fmt.Sprintf("--format is %q; write %s", format, strings.Join(known, ", ")), "--format")
}

func (p *program) renderCommand() *cobra.Command {
	var format, id string
	cmd := &cobra.Command{
		Use:   "render FILE | --run ID",
		Short: "Draw a document, or a run's graph with the run drawn in",
		Long: "Draw a document, or a run's graph with the run drawn in: the status of its nodes, attempts, and open pauses.\n" +
			"mermaid and dot are text for other programs; svg is a picture that needs none.",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := drawerOf(format)
			if err != nil {
				return err
			}
			if len(args) > 1 || (id == "") == (len(args) == 0) {
				return usage("render takes one file, or --run ID", "render")
			}
			if id == "" {
				compiled, err := p.compile(args[0])
				if err != nil {
					return err
				}
				return p.printPicture(d, compiled.Document, nil)
			}
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				view, err := runs.View(cmd.Context(), id)
				if err != nil {
					return err
				}
				return p.printPicture(d, view.Document, view.Run)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", drawers()[0].format, "mermaid, dot or svg")
	cmd.Flags().StringVar(&id, "run", "", "workflow id of a run to draw")
	return cmd
}

func (p *program) printPicture(d drawer, doc *graph.Document, run *graph.RunView) error {
	text := d.draw(doc, run)
	return p.print(picture{Format: d.format, Text: text}, func(w io.Writer) { _, _ = io.WriteString(w, text) })
}
