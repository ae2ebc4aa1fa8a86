package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

// defaultDomain is the domain of permits where no rule names another.
const defaultDomain = "default"

func (p *program) admissionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admission",
		Short: "Look at permits and what waits for them, and change limits live",
		Long: "Look at permits and what waits for them, and change limits live. A worker with an admission section must run.\n" +
			"Live changes stand above the workers' configuration until they are taken back.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Sprintf("admission has no verb %q; see starter admission --help", args[0]), "admission")
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return usage("admission needs a verb: status, explain, set-limit, set-rate, pause, resume or drain", "admission")
		},
	}
	cmd.AddCommand(
		p.admissionStatusCommand(), p.admissionExplainCommand(), p.setLimitCommand(), p.setRateCommand(),
		p.pauseAdmissionCommand(), p.resumeAdmissionCommand(), p.drainCommand(),
	)
	return cmd
}

// domainFlag is the flag of the verbs that mean one domain.
func domainFlag(cmd *cobra.Command, domain *string) {
	cmd.Flags().StringVar(domain, "domain", defaultDomain, "domain of the permits")
}

func (p *program) admissionStatusCommand() *cobra.Command {
	var domain string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the permits and queues of a domain in numbers, and its oldest permits",
		Args:  exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				view, err := runs.AdmissionStatus(cmd.Context(), domain)
				if err != nil {
					return err
				}
				// The other domains are a hint: that the server does not tell is no error.
				if domains, err := runs.AdmissionDomains(cmd.Context()); err == nil {
					others := slices.DeleteFunc(domains, func(d string) bool { return d == view.Domain })
					if len(others) > 0 {
						p.say("other domains: %s", strings.Join(others, ", "))
					}
				}
				return p.print(view, func(w io.Writer) { writeAdmission(w, view) })
			})
		},
	}
	domainFlag(cmd, &domain)
	return cmd
}

func (p *program) admissionExplainCommand() *cobra.Command {
	var domain string
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Say why a run, or a request for a permit, waits",
		Long: "Say why a run waits, with its child graphs that wait for a permit: what for, behind whom, until when, and who holds it.\n" +
			"ID is the workflow id of a run, the id of a request, or the name of a process that asks for permits. Of a run that\n" +
			"does not wait for a permit it says what the run does instead.",
		Args: exactly(1, "the id of a run or of a request"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return usage("the id is empty; give that of a run or of a request", "explain")
			}
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				x, err := runs.ExplainAdmission(cmd.Context(), domain, args[0])
				if err != nil {
					return err
				}
				return p.print(x, func(w io.Writer) { writeExplanation(w, x) })
			})
		},
	}
	cmd.Flags().StringVar(&domain, "domain", "", "domain to ask (default all of them)")
	return cmd
}
