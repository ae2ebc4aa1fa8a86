package main

import (
	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

func (p *program) checkpointCommand() *cobra.Command {
	var o tidemill.CheckpointOptions
	var before string
	cmd := &cobra.Command{
		Use:   "checkpoint ID",
		Short: "Print a run as data, to redrive it when it is gone",
		Long: "Print the whole state of a run as JSON, with the graph it is bound to: what starter redrive --export takes.\n" +
			"It is made from the run's history, here; no worker is needed.",
		Args: exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Before = graph.Address(before)
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				export, err := runs.Checkpoint(cmd.Context(), args[0], o)
				if err != nil {
					return err
				}
				return p.printJSON(export) // it has no other form
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.RunID, "run", "", "run id of an earlier run of the id (default the latest)")
	f.BoolVar(&o.Deep, "deep", false, "with the child runs whose results the run has not taken")
	f.StringVar(&before, "before", "", "address: as the run stood before it, such as ship#1")
	return cmd
}
