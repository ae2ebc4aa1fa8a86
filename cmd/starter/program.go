package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The formats of --output.
const (
	formatText  = "text"
	formatJSON  = "json"
	formatSARIF = "sarif" // validate only
)

// program is one call of the command line.
type program struct {
	in         io.Reader
	out, err   io.Writer
	format     string
	connection connection
	code       int // set by a verb that succeeded in telling something other than success
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	p := &program{in: in, out: out, err: errs}
	root := p.command()
	p.format = formatOf(args)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	if err := root.ExecuteContext(ctx); err != nil {
		return p.fail(err)
	}
	return p.code
}

// formatOf looks for --output before flags are parsed, so that a mistake in them
// is told in the right format too.
func formatOf(args []string) string {
	for i, arg := range args {
		switch {
		case arg == "--":
			return formatText
		case strings.HasPrefix(arg, "--output="):
			return strings.TrimPrefix(arg, "--output=")
		case arg == "--output" && i+1 < len(args):
			return args[i+1]
		}
	}
	return formatText
}

// command is the tree of verbs.
func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "starter",
		Short: "Check, start, answer and look at graph runs on Temporal",
		Long: "Check, start, answer and look at graph runs on Temporal.\n\n" +
			"Exit codes: 0 completed, 1 failed, 2 bad usage or invalid document, 3 paused, 4 timed out, 5 cancelled, 6 server unreachable.",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return p.checkFormat(cmd) },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.format, "output", formatText, "text or json; validate also: sarif")
	flags.StringVar(&p.connection.address, "address", "", "host:port of the Temporal frontend (else TEMPORAL_ADDRESS or temporal.toml)")
	flags.StringVar(&p.connection.namespace, "namespace", "", "Temporal namespace (else TEMPORAL_NAMESPACE or temporal.toml)")
	flags.StringVar(&p.connection.profile, "profile", "", "profile of temporal.toml (else TEMPORAL_PROFILE)")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err.Error(), "") })
	root.AddCommand(
		p.validateCommand(), p.describeCommand(), p.renderCommand(), p.schemaCommand(), p.testCommand(), p.runCommand(), p.statusCommand(),
		p.awaitCommand(), p.watchCommand(), p.listCommand(), p.resumeCommand(), p.cancelCommand(), p.checkpointCommand(),
		p.redriveCommand(), p.admissionCommand(), p.doctorCommand(),
	)
	return root
}

// checkFormat refuses formats that a verb does not have.
func (p *program) checkFormat(cmd *cobra.Command) error {
	formats := []string{formatText, formatJSON}
	if cmd.Name() == "validate" {
		formats = append(formats, formatSARIF)
	}
	if slices.Contains(formats, p.format) {
		return nil
	}
	wrong := p.format
	p.format = formatText
	return usage(fmt.Sprintf("--output is %q; write %s", wrong, strings.Join(formats, " or ")), "--output")
}

// exactly is the check of a verb that takes n arguments, called as in what.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usage(fmt.Sprintf("%s takes %s; %d arguments were given", cmd.Name(), what, len(args)), cmd.Name())
	}
}

// json reports whether machines read the output.
func (p *program) json() bool { return p.format == formatJSON }

// print writes the one document of a verb: v as JSON, or the text.
func (p *program) print(v any, text func(io.Writer)) error {
	if !p.json() {
		text(p.out)
		return nil
	}
	return p.printJSON(v)
}

// printJSON writes v as JSON, whatever the format.
func (p *program) printJSON(v any) error {
	encoder := json.NewEncoder(p.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// say writes a line for people to standard error.
func (p *program) say(format string, args ...any) {
	_, _ = fmt.Fprintln(p.err, printable(fmt.Sprintf(format, args...)))
}

// fail tells an error, and returns its exit code.
func (p *program) fail(err error) int {
	told := tell(err)
	if p.json() {
		if printErr := p.print(map[string]problem{"error": told}, nil); printErr != nil {
			p.say("error: %v", errors.Join(err, printErr))
		}
	} else {
		p.say("%s", told)
	}
	return exitOf(told.Type)
}
