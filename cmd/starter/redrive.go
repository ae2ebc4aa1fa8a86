package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// redriveFlags are the flags of redrive.
type redriveFlags struct {
	run, from, spec, deadline, export, queue string
	steps                                    int
	dry, detach                              bool
}

func (p *program) redriveCommand() *cobra.Command {
	var flags redriveFlags
	cmd := &cobra.Command{
		Use:   "redrive ID",
		Short: "Take up a run that has closed, from where it stood",
		Long: "Take up a run that failed, timed out, was cancelled or terminated: a new run of the same id goes on from where it stood,\n" +
			"and repeats nothing that has committed. Shows what is reused and repeated, then waits as run does.\n" +
			"With --from the run begins at an address, committed or not, and everything behind it is repeated.",
		Args: exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := p.redriveOptions(cmd, flags)
			if err != nil {
				return err
			}
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				return p.redrive(cmd, runs, args[0], o, flags.detach)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.run, "run", "", "run id of an earlier run of the id (default the latest)")
	f.StringVar(&flags.from, "from", "", "address to begin at: ship#1, an item each#1/17 or each#1/KEY, in a child review#1/charge#1")
	f.StringVar(&flags.spec, "spec", "", "file of a corrected graph to go on with")
	f.StringVar(&flags.deadline, "deadline", "", "new budget of running time, such as 30m, 7d or none (default the graph's)")
	f.IntVar(&flags.steps, "max-steps", 0, "new budget of steps (default what is left)")
	f.StringVar(&flags.export, "export", "", "file that starter checkpoint --deep wrote, for a run that the server has forgotten; - is standard input")
	f.StringVar(&flags.queue, "task-queue", "", "task queue of the workers (default the one the run had)")
	f.BoolVar(&flags.dry, "dry-run", false, "show what would happen, and start nothing")
	f.BoolVar(&flags.detach, "detach", false, "return when the run has been started")
	return cmd
}

// redriveOptions reads the flags. What they name is looked at where the run is known.
func (p *program) redriveOptions(cmd *cobra.Command, flags redriveFlags) (tidemill.RedriveOptions, error) {
	o := tidemill.RedriveOptions{
		RunID: flags.run, From: graph.Address(flags.from), MaxSteps: flags.steps, TaskQueue: flags.queue, DryRun: flags.dry,
	}
	given := cmd.Flags().Changed
	_, _, keyed := graph.Keyed(flags.from)
	if _, err := graph.ParseAddress(flags.from); given("from") && err != nil && !keyed {
		return o, usage(fmt.Sprintf(
			"%q is no address; write ship#1 for the first visit of ship, each#1/17 for an item of a map, review#1/charge#1 for a node of a child", flags.from), "--from")
	}
	if given("max-steps") && flags.steps < 1 {
		return o, usage(fmt.Sprintf("%d steps are no budget; give at least 1, or leave the flag out for what is left", flags.steps), "--max-steps")
	}
	if given("run") && given("export") {
		return o, usage("a run is taken from the server (--run) or from a file (--export), not from both", "--run")
	}
	if given("deadline") {
		deadline, err := deadlineFlag(flags.deadline)
		if err != nil {
			return o, err
		}
		o.Deadline = time.Duration(deadline)
	}
	var err error
	if given("spec") {
		if o.SpecName, o.Spec, err = p.document(flags.spec); err != nil {
			return o, usage(fmt.Sprintf("the document cannot be read: %v", err), "--spec")
		}
	}
	if given("export") {
		if o.Export, err = p.exported(flags.export); err != nil {
			return o, usage(fmt.Sprintf("the export cannot be read: %v", err), "--export")
		}
	}
	return o, nil
}

// exported reads a run as data from a file.
func (p *program) exported(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(p.in)
	}
	return os.ReadFile(path)
}

// deadlineFlag reads a new budget of running time, and tells apart what is none.
func deadlineFlag(text string) (graph.Duration, error) {
	const how = "a deadline is how long the run may go on from now, such as 30m or 7d, or none"
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		if at.Before(time.Now()) {
			return 0, usage(fmt.Sprintf("%s lies in the past; %s", text, how), "--deadline")
		}
		return 0, usage(fmt.Sprintf("%s is a point in time; %s", text, how), "--deadline")
	}
	if d, err := time.ParseDuration(text); err == nil && d <= 0 {
		return 0, usage(fmt.Sprintf("a deadline of %s is over before the run begins; %s", text, how), "--deadline")
	}
	d, err := durationFlag("--deadline", text)
	if err == nil && d == 0 {
		err = usage("no deadline is given; "+how, "--deadline")
	}
	return d, err
}

// planned is what redrive --dry-run prints.
type planned struct {
	ID string `json:"id"`
	*graph.RedrivePlan
}

// redriven is what redrive --detach prints.
type redriven struct {
	detached

	Plan *graph.RedrivePlan `json:"plan,omitempty"`
}

func (p *program) redrive(cmd *cobra.Command, runs *tidemill.Client, id string, o tidemill.RedriveOptions, detach bool) error {
	r, err := runs.Redrive(cmd.Context(), id, o)
	if err != nil {
		return err
	}
	if o.DryRun {
		return p.print(planned{ID: id, RedrivePlan: r.Plan}, func(w io.Writer) { writePlan(w, r.Plan) })
	}
	if r.Plan != nil {
		writePlan(p.err, r.Plan)
	}
	if detach {
		d := redriven{detached: detached{ID: r.ID, RunID: r.RunID, Status: tidemill.StatusRunning}, Plan: r.Plan}
		return p.print(d, func(w io.Writer) { _, _ = fmt.Fprintf(w, "started %s (run id %s)\n", d.ID, d.RunID) })
	}
	p.say("started %s", r.ID)
	return p.await(cmd.Context(), runs, r.ID, tidemill.AwaitOptions{RunID: r.RunID})
}
