package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

func (p *program) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status ID",
		Short: "Show how a run stands or ended",
		Long:  "Show how a run stands or ended. The exit code says the same; that of a running one is 0.",
		Args:  exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				report, err := runs.Status(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return p.report(report)
			})
		},
	}
}

func (p *program) awaitCommand() *cobra.Command {
	var through bool
	cmd := &cobra.Command{
		Use:   "await ID",
		Short: "Wait until a run is closed or paused, and print the outcome",
		Args:  exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				return p.await(cmd.Context(), runs, args[0], tidemill.AwaitOptions{ThroughPauses: through})
			})
		},
	}
	cmd.Flags().BoolVar(&through, "through-pauses", false, "wait until the run is closed")
	return cmd
}

// await waits for a run, shows its progress and prints the outcome.
func (p *program) await(ctx context.Context, runs *tidemill.Client, id string, o tidemill.AwaitOptions) error {
	seen := newProgress(p.say)
	o.Progress = seen.see
	report, err := runs.Await(ctx, id, o)
	if err != nil {
		if ctx.Err() != nil {
			p.say("the run goes on; wait for it with: starter await %s", id)
		}
		return err
	}
	seen.see(report)
	return p.report(report)
}

// report prints the outcome document; the exit code is its status.
func (p *program) report(r tidemill.Report) error {
	p.code = exitOfReport(r)
	return p.print(r, func(w io.Writer) { writeReport(w, r) })
}
