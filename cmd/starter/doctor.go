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
	line("dispatch", "by priority: %s; by flow: %s", dispatched(c.Dispatch.Priority), dispatched(c.Dispatch.Fairness))
	line("admission", "%s", c.admission())
	for _, b := range c.Admission.Books {
		line("  domain "+b.Domain, "%s", book(b))
	}
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

// dispatched words one of the Dispatch words: what is set in the server, it does
// not tell.
func dispatched(word string) string {
	switch word {
	case tidemill.DispatchOn:
		return "cannot be told, on by default in this version"
	case tidemill.DispatchOff:
		return "cannot be told, off by default in this version"
	default:
		return "cannot be told"
	}
}

func (c checkup) admission() string {
	if !c.Admission.On {
		return "off"
	}
	return fmt.Sprintf("on, %s of %s for workflows", count(c.Admission.WorkflowPollers, "poller"), c.Admission.TaskQueue)
}

// book is one book in a line.
func book(b tidemill.BookDiagnosis) string {
	if b.Status == nil {
		return "no answer"
	}
	s := b.Status
	text := fmt.Sprintf("%d of %d running, %s held, %d of %d waiting, limits version %d",
		s.Active, s.GlobalLimit, count(s.Permits, "permit"), s.Queued, s.MaxQueue, s.Version)
	if s.Paused {
		text += ", paused"
	}
	if s.Draining {
		text += ", draining"
	}
	return text
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
