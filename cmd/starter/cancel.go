package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

// cancelRequested is what cancel prints.
type cancelRequested struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func (p *program) cancelCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Ask a run to stop",
		Long:  "Ask a run to stop, and return when the server has taken the request. starter await waits until it has stopped.",
		Args:  exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				if err := runs.Cancel(cmd.Context(), args[0], reason); err != nil {
					return err
				}
				return p.print(cancelRequested{ID: args[0], Status: "cancel_requested"}, func(w io.Writer) {
					_, _ = fmt.Fprintf(w, "asked %s to stop\n", args[0])
				})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "kept in the run's history")
	return cmd
}
