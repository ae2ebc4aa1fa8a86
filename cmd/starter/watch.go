package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

func (p *program) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Show the nodes of a run as they come and go, until it is closed",
		Long: "Show the nodes of a run as they come and go, until it is closed: on a terminal as a tree that is drawn anew, elsewhere\n" +
			"as one line for each change. Then print the outcome. Ctrl-C ends the watching and leaves the run alone.",
		Args: exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				return p.watch(cmd, runs, args[0])
			})
		},
	}
}

// watch shows each report; the last is the outcome.
func (p *program) watch(cmd *cobra.Command, runs *tidemill.Client, id string) error {
	show := p.shower()
	var outcome tidemill.Report
	for report, err := range runs.Watch(cmd.Context(), id) {
		if err != nil {
			if cmd.Context().Err() != nil {
				p.say("the run goes on; watch it again with: starter watch %s", id)
			}
			return err
		}
		show(report)
		outcome = report
	}
	return p.report(outcome)
}

// shower is how a watched run is shown. Standard output takes it unless that is
// kept for one JSON document.
func (p *program) shower() func(tidemill.Report) {
	switch {
	case p.json():
		return newProgress(p.say).see
	case terminal(p.out):
		return (&screen{out: p.out}).show
	default:
		return newProgress(func(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }).see
	}
}

// terminal reports whether a person sees what is written, on a screen that can
// be drawn anew.
func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
