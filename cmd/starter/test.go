package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

// testOptions are the flags of test.
type testOptions struct {
	run    string
	server bool
}

// tested is the document that test prints.
type tested struct {
	Passed bool                   `json:"passed"`
	Cases  []tidemilltest.Verdict `json:"cases"`
}

func (p *program) testCommand() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test FILE|FOLDER…",
		Short: "Run the test cases of graphs with fakes, in virtual time or on a server",
		Long: "Run the test cases of graphs with fakes, in virtual time or on a server.\n" +
			"Cases stand beside a graph, in a file named for it: order.test.yaml for order.yaml. A graph may be given as well,\n" +
			"and of a folder every file of cases below it is taken. With --server each case runs on a Temporal server too, and\n" +
			"the history of the run is replayed: on the server of --address, or else on a development server of its own.\n" +
			"Exit code 1 when a case failed, 2 when a file is not valid or there is nothing to run.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("test takes at least one file or folder", "test")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.test(cmd.Context(), args, o) },
	}
	cmd.Flags().StringVar(&o.run, "run", "", "only the cases whose names this regular expression matches")
	cmd.Flags().BoolVar(&o.server, "server", false, "run each case on a server as well, and replay its history")
	return cmd
}

func (p *program) test(ctx context.Context, args []string, o testOptions) error {
	chosen, err := regexp.Compile(o.run)
	if err != nil {
		return usage(fmt.Sprintf("--run is no regular expression: %v", err), "--run")
	}
	suites, err := loadSuites(args)
	if err != nil {
		return err
	}
	t := tested{Passed: true, Cases: []tidemilltest.Verdict{}}
	player, stop, err := p.player(ctx, o)
	if err != nil {
		return err
	}
	defer stop()
	for _, suite := range suites {
		for _, c := range suite.Cases {
			if !chosen.MatchString(c.Name) {
				continue
			}
			for _, v := range player(ctx, suite, c) {
				t.Cases = append(t.Cases, v)
				t.Passed = t.Passed && v.Outcome != tidemilltest.Failed
			}
		}
	}
	switch {
	case len(t.Cases) == 0:
		return usage(fmt.Sprintf("no case is called like --run %q", o.run), "--run")
	case ctx.Err() != nil:
		return ctx.Err()
	case !t.Passed:
		p.code = exitFailed
	}
	return p.print(t, t.text)
}

// player runs one case: in virtual time, and on a server where that is wanted.
type player func(context.Context, *tidemilltest.Suite, tidemilltest.Case) []tidemilltest.Verdict

func (p *program) player(ctx context.Context, o testOptions) (player, func(), error) {
	virtual := func(ctx context.Context, s *tidemilltest.Suite, c tidemilltest.Case) []tidemilltest.Verdict {
		return []tidemilltest.Verdict{s.Play(ctx, c)}
	}
	if !o.server {
		return virtual, func() {}, nil
	}
	live, stop, err := p.liveServer(ctx)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, s *tidemilltest.Suite, c tidemilltest.Case) []tidemilltest.Verdict {
		v := s.Play(ctx, c)
		return []tidemilltest.Verdict{v, live.Play(ctx, s, c, v)}
	}, stop, nil
}

// loadSuites reads all files of cases, and tells of all that is wrong with any.
func loadSuites(args []string) ([]*tidemilltest.Suite, error) {
	var suites []*tidemilltest.Suite
	var found graph.Diagnostics
	for _, arg := range args {
		files, err := caseFiles(arg)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			suite, err := tidemilltest.LoadCases(file, nil)
			var wrong graph.Diagnostics
			switch {
			case errors.As(err, &wrong):
				found = append(found, wrong...)
			case err != nil:
				return nil, usage(strings.TrimPrefix(err.Error(), "tidemilltest: "), file)
			default:
				suites = append(suites, suite)
			}
		}
	}
	return suites, found.Err()
}

// caseFiles are the files of cases that an argument stands for: itself, those below a
// folder, or that of a graph.
func caseFiles(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, usage(fmt.Sprintf("the file cannot be read: %v", err), arg)
	}
	if !info.IsDir() {
		if graph.IsCasesFile(filepath.Base(arg)) {
			return []string{arg}, nil
		}
		ext := filepath.Ext(arg)
		beside := strings.TrimSuffix(arg, ext) + ".test" + ext
		if _, err := os.Stat(beside); err != nil {
			return nil, usage(fmt.Sprintf("the graph has no test cases; write them into %s", beside), arg)
		}
		return []string{beside}, nil
	}
	var files []string
	err = filepath.WalkDir(arg, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && graph.IsCasesFile(entry.Name()) {
			files = append(files, path)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, usage(fmt.Sprintf("the folder cannot be read: %v", err), arg)
	case len(files) == 0:
		return nil, usage("there are no test cases below the folder; write them into NAME.test.yaml beside NAME.yaml", arg)
	}
	return files, nil
}

// text is one line for each case, what is otherwise below it, and a sum.
func (t tested) text(w io.Writer) {
	counts := map[tidemilltest.Outcome]int{}
	for _, v := range t.Cases {
		counts[v.Outcome]++
		where := ""
		if v.Server {
			where = " on the server"
		}
		_, _ = fmt.Fprintf(w, "%-7s  %s:%d: %s%s%s\n", v.Outcome, v.File, v.Line, printable(v.Name), where, sum(v))
		for _, line := range detail(v) {
			_, _ = fmt.Fprintf(w, "         %s\n", strings.ReplaceAll(printable(line), "\n", "\n         "))
		}
	}
	_, _ = fmt.Fprintf(w, "%s passed, %d failed", count(counts[tidemilltest.Passed], "case"), counts[tidemilltest.Failed])
	if n := counts[tidemilltest.Skipped]; n > 0 {
		_, _ = fmt.Fprintf(w, ", %d skipped", n)
	}
	_, _ = fmt.Fprintln(w)
}

// sum is how much a case did.
func sum(v tidemilltest.Verdict) string {
	if v.Outcome == tidemilltest.Skipped || v.Result == nil {
		return ""
	}
	return fmt.Sprintf(" (%s, %s)", count(v.Calls, "call"), v.Took)
}

// detail is why a case has not passed.
func detail(v tidemilltest.Verdict) []string {
	var lines []string
	if v.Reason != "" {
		lines = append(lines, strings.TrimPrefix(v.Reason, "tidemilltest: "))
	}
	for _, d := range v.Differences {
		lines = append(lines, d.String())
	}
	return lines
}
