package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

// runFlags are the flags of run.
type runFlags struct {
	input, id, queue, deadline, lane string
	detach                           bool
}

func (p *program) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|NAME",
		Short: "Start a graph, show its progress, and print the outcome",
		Long: "Start a graph, show its progress on standard error, and print the outcome.\n" +
			"NAME is a graph that the workers have. A FILE is checked here and sent along; the workers must allow it (inline_specs)\n" +
			"unless they have the very same graph. Returns when the run is closed or paused.",
		Args: exactly(1, "one file or graph name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := p.startOptions(cmd, args[0], flags)
			if err != nil {
				return err
			}
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				return p.start(cmd, runs, options, flags.detach)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.input, "input", "", "JSON, @FILE, or - for standard input (default {})")
	f.StringVar(&flags.id, "id", "", "workflow id (default <graph>-<random>)")
	f.StringVar(&flags.queue, "task-queue", tidemill.DefaultTaskQueue, "task queue of the workers")
	f.StringVar(&flags.deadline, "deadline", "", "budget of running time, such as 30m, 7d or none (default the graph's)")
	f.StringVar(&flags.lane, "lane", "", "app/user/session")
	f.BoolVar(&flags.detach, "detach", false, "return when the run has been started")
	return cmd
}

func (p *program) startOptions(cmd *cobra.Command, target string, flags runFlags) (tidemill.StartOptions, error) {
	o := tidemill.StartOptions{ID: flags.id, TaskQueue: flags.queue}
	input, err := p.input(flags.input, cmd.Flags().Changed("input"))
	if err != nil {
		return o, err
	}
	if input != nil {
		o.Input = input
	}
	deadline, err := durationFlag("--deadline", flags.deadline)
	if err != nil {
		return o, err
	}
	o.Deadline = time.Duration(deadline)
	if o.Lane, err = laneFlag(flags.lane); err != nil {
		return o, err
	}
	if !looksLikeFile(target) {
		o.Graph = target
		return o, nil
	}
	if o.SpecName, o.Spec, err = p.document(target); err != nil {
		return o, usage(fmt.Sprintf("the document cannot be read: %v", err), target)
	}
	return o, nil
}

// detached is what run --detach prints.
type detached struct {
	ID     string          `json:"id"`
	RunID  string          `json:"run_id"`
	Status tidemill.Status `json:"status"`
}

func (p *program) start(cmd *cobra.Command, runs *tidemill.Client, o tidemill.StartOptions, detach bool) error {
	run, err := runs.Start(cmd.Context(), o)
	if err != nil {
		return err
	}
	if detach {
		d := detached{ID: run.ID, RunID: run.RunID, Status: tidemill.StatusRunning}
		return p.print(d, func(w io.Writer) { _, _ = fmt.Fprintf(w, "started %s (run id %s)\n", d.ID, d.RunID) })
	}
	p.say("started %s", run.ID)
	return p.await(cmd.Context(), runs, run.ID, tidemill.AwaitOptions{RunID: run.RunID})
}
