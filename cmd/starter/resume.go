package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill"
)

// answered is what resume prints.
type answered struct {
	ID string `json:"id"`
	tidemill.Answered
}

func (p *program) resumeCommand() *cobra.Command {
	var o tidemill.ResumeOptions
	var input string
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Answer a pause",
		Long: "Answer a pause, and return when the run has taken the answer.\n" +
			"With --signal the answer is left with the server instead, which keeps it until a worker comes.",
		Args: exactly(1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := p.input(input, cmd.Flags().Changed("input"))
			if err != nil {
				return err
			}
			if raw == nil {
				return usage("resume needs --input, the answer; null is one", "--input")
			}
			o.Input = raw
			return p.withRuns(cmd.Context(), func(runs *tidemill.Client) error {
				return p.resume(cmd, runs, args[0], o)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&input, "input", "", "the answer: JSON, @FILE, or - for standard input")
	f.StringVar(&o.PauseID, "pause", "", "id of the pause (default the only open one)")
	f.StringVar(&o.Actor, "actor", "", "who answers; recorded")
	f.StringVar(&o.Note, "note", "", "recorded with the answer")
	f.StringVar(&o.Digest, "digest", "", "digest of the pause as it was shown; the answer to another is refused")
	f.StringVar(&o.UpdateID, "update-id", "", "makes a repetition harmless")
	f.BoolVar(&o.Signal, "signal", false, "send a signal, which needs no worker and carries the input alone")
	return cmd
}

func (p *program) resume(cmd *cobra.Command, runs *tidemill.Client, id string, o tidemill.ResumeOptions) error {
	result, err := runs.Resume(cmd.Context(), id, o)
	if err != nil {
		if tidemill.ErrorType(err) == tidemill.ErrTypeNoWorker {
			p.say("to send it as a signal, repeat the command with --signal")
		}
		return err
	}
	return p.print(answered{ID: id, Answered: result}, func(w io.Writer) {
		if o.Signal {
			_, _ = fmt.Fprintf(w, "sent to %s; look at the status to see whether it was taken\n", id)
			return
		}
		_, _ = fmt.Fprintf(w, "%s of %s is answered\n", result.PauseID, id)
	})
}
