package main

import (
	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill/graph"
)

func (p *program) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of documents, for editors",
		Long: "Print the JSON Schema of documents, draft 2020-12, with which an editor completes fields and marks mistakes.\n" +
			"It says less than validate: what it marks does not compile, and what it passes over may still have mistakes.",
		Args: exactly(0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			p.format = formatJSON // the schema has no other form
			return p.print(graph.EditorSchema(), nil)
		},
	}
}
