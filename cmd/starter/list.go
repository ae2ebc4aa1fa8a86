package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

func (p *program) listCommand() *cobra.Command {
	var o tidemill.ListOptions
	var status string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, the open ones first",
		Long: "List runs: the open ones, the youngest first, then the closed ones, as the server's search knows them, a moment late.\n" +
			"A list of all graphs needs the search attribute TidemillGraph in the namespace, and a list of paused or\n" +
			"running ones TidemillStatus; starter doctor shows how to add them.",
		Args: exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Limit < 1 {
				return usage(fmt.Sprintf("--limit is %d; write a number of at least 1", o.Limit), "--limit")
			}
			o.Status = tidemill.Status(status)
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				list, err := runs.List(cmd.Context(), o)
				if err != nil {
					return err
				}
				return p.print(list, func(w io.Writer) { p.writeList(w, list) })
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Graph, "graph", "", "runs of this graph only")
	f.StringVar(&status, "status", "", "running, paused, completed, failed, timed_out or cancelled")
	f.IntVar(&o.Limit, "limit", tidemill.DefaultListLimit, "at most so many runs")
	return cmd
}

// writeList is the list for people: one line for each run.
func (p *program) writeList(out io.Writer, list tidemill.List) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tGRAPH\tSTATUS\tSTARTED\tWAITING")
	for _, r := range list.Runs {
		waiting := "-"
		if len(r.Waiting) > 0 {
			words := make([]string, len(r.Waiting))
			for i, id := range r.Waiting {
				words[i] = string(id)
			}
			waiting = strings.Join(words, " ")
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", plain(r.ID), plain(r.Graph), r.Status, r.Started.UTC().Format(time.RFC3339), plain(waiting))
	}
	_ = w.Flush()
	if list.More {
		p.say("there are more; raise --limit to see them")
	}
	if len(list.Missing) > 0 {
		p.say("the namespace has no %s, so some of this is left out; starter doctor says how to add them", strings.Join(list.Missing, ", "))
	}
}
