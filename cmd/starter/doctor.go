package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

// checkup is the document that doctor prints.
type checkup struct {
	Reachable bool `json:"reachable"`
	tidemill.Diagnosis
}

func (p *program) doctorCommand() *cobra.Command {
	var queue string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at the server and its workers, and say what is off",
		Long:  "Look at the server and its workers, and say what is off and how to mend it. Exit code 6 when no server answers.",
		Args:  exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				diagnosis, err := runs.Doctor(cmd.Context(), queue)
				if err != nil {
					return err
				}
				c := checkup{Reachable: true, Diagnosis: diagnosis}
				return p.print(c, c.text)
			})
		},
	}
	cmd.Flags().StringVar(&queue, "task-queue", tidemill.DefaultTaskQueue, "task queue of the workers")
	return cmd
}

func (c checkup) text(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("server", "reachable, version %s", c.ServerVersion)
	line("namespace", "%s", c.Namespace)
	line("task queue", "%s, %s for workflows, %s for activities",
		c.TaskQueue, count(c.WorkflowPollers, "poller"), count(c.ActivityPollers, "poller"))
	line("search attributes", "%s", orNone(c.SearchAttributes))
	line("capabilities", "%s", orNone(c.Capabilities))
	_ = w.Flush()
	if len(c.Findings) == 0 {
		_, _ = fmt.Fprintln(out, "nothing is off")
	}
	for _, f := range c.Findings {
		_, _ = fmt.Fprintf(out, "\noff: %s\n", f.What)
		if f.Fix != "" {
			_, _ = fmt.Fprintf(out, "     %s\n", f.Fix)
		}
	}
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
