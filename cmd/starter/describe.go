package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

func (p *program) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe FILE",
		Short: "Show a document's nodes, edges, bounds and warnings",
		Args:  exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			compiled, err := p.compile(args[0])
			if err != nil {
				return err
			}
			description := graph.Describe(compiled)
			return p.print(description, func(w io.Writer) { _, _ = io.WriteString(w, description.String()) })
		},
	}
}

// compile reads and compiles one file.
func (p *program) compile(file string) (*graph.Compiled, error) {
	name, data, err := p.document(file)
	if err != nil {
		return nil, usage(fmt.Sprintf("the document cannot be read: %v", err), name)
	}
	compiled, diagnostics := graph.Compile(name, data, graph.CompileOptions{})
	return compiled, diagnostics.Err()
}

// picture is the document that render prints.
type picture struct {
	Format string `json:"format"`
	Text   string `json:"text"`
}

func (p *program) renderCommand() *cobra.Command {
	var format, id string
	cmd := &cobra.Command{
		Use:   "render FILE | --run ID",
		Short: "Draw a document, or a run's graph with the run drawn in",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "mermaid" {
				return usage(fmt.Sprintf("--format is %q; this version draws mermaid, and dot and svg come with a later one", format), "--format")
			}
			if len(args) > 1 || (id == "") == (len(args) == 0) {
				return usage("render takes one file, or --run ID", "render")
			}
			if id == "" {
				return p.renderFile(args[0])
			}
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				text, err := runs.Picture(cmd.Context(), id)
				if err != nil {
					return err
				}
				return p.printPicture(text)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid")
	cmd.Flags().StringVar(&id, "run", "", "workflow id of a run to draw")
	return cmd
}

func (p *program) renderFile(file string) error {
	compiled, err := p.compile(file)
	if err != nil {
		return err
	}
	return p.printPicture(graph.Mermaid(compiled.Document, nil))
}

func (p *program) printPicture(text string) error {
	return p.print(picture{Format: "mermaid", Text: text}, func(w io.Writer) { _, _ = io.WriteString(w, text) })
}
