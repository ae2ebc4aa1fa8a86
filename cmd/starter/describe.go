package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

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
