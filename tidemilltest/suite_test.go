package tidemilltest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

// Every mistake in a file of cases is told, at its place and with how to mend it: a
// word that is passed over makes a case that tests less than its author believes.
func TestMistakesInCases(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"cases: []":                              "1:1: error[empty]: there are no test cases",
		"graph: a.yaml":                          "1:1: error[empty]: there are no test cases",
		"case: []":                               `1:1: error[unknown_field]: a file of test cases has no field "case" (did you mean cases?)`,
		"- 1":                                    "1:1: error[expected_map]",
		"cases: {a: 1}":                          "error[expected_list]: cases must be a list",
		"cases: [{expect: {status: completed}}]": "1:9: error[empty]: the case has no name",
		"cases: [{name: a}]":                     "1:9: error[empty]: the case expects nothing",
		"cases: [{name: a, expect: {}}]":         "expect is empty",
		"cases: [{name: a, expect: {staus: completed}}]":                                     `1:28: error[unknown_field]: expect has no field "staus" (did you mean status?)`,
		"cases: [{name: a, expect: {status: complete}}]":                                     `status is "complete"`,
		"cases: [{name: a, expect: {steps: 0}}]":                                             "steps must be a whole number from 1",
		"cases: [{name: a, expect: {took: 5}}]":                                              "took must be a length of time",
		"cases: [{name: a, expect: {took: 5 apples}}]":                                       "took: graph: not a duration",
		"cases: [{name: a, expect: {path: ship}}]":                                           "error[expected_list]: path must be a list",
		"cases: [{name: a, expect: {path: [1]}}]":                                            "error[expected_text]",
		"cases: [{name: a, expect: {state: {}, whole_state: {}}}]":                           "error[conflicting_fields]",
		"cases: [{name: a, expect: {pauses: [{reason: x}]}}]":                                "the pause has no address",
		"cases: [{name: a, expect: {pauses: [{pause: x, closed: shut}]}}]":                   `closed is "shut"`,
		"cases: [{name: a, expect: {calls: {a: -1}}}]":                                       "calls of a must be a whole number from 0",
		"cases: [{name: a, expect: {calls: {a: [{arg: 1}]}}}]":                               `a call has no field "arg" (did you mean args?)`,
		"cases: [{name: a, expect: {error: {typ: x}}}]":                                      `(did you mean type?)`,
		"cases: [{name: a, answers: [{pause: x}], expect: {steps: 1}}]":                      "the answer has no input",
		"cases: [{name: a, answers: [{input: 1, at: 1h, after: 1h}], expect: {steps: 1}}]":   "error[conflicting_fields]: at is an instant",
		"cases: [{name: a, cancel: {reason: x}, expect: {steps: 1}}]":                        "cancel does not say when",
		"cases: [{name: a, carry: 1, expect: {steps: 1}}]":                                   "carry must be true or false",
		"cases: [{name: a, permits: {waits: 1h}, expect: {steps: 1}}]":                       "(did you mean wait?)",
		"cases: [{name: a, secrets: {A: 1}, expect: {steps: 1}}]":                            "a secret must be text",
		"cases: [{name: a, expect: {steps: 1}}, {name: a, expect: {steps: 1}}]":              `two cases are called "a"`,
		"fakes: {a: {output: 1, error: x}}\ncases: [{name: a, expect: {steps: 1}}]":          "1:12: error[conflicting_fields]: a step has one of",
		"fakes: {a: {otput: 1}}\ncases: [{name: a, expect: {steps: 1}}]":                     "(did you mean output?)",
		"fakes: {a: {interrupt: lost}}\ncases: [{name: a, expect: {steps: 1}}]":              `interrupt is "lost"`,
		"fakes: {a: {route: 7}}\ncases: [{name: a, expect: {steps: 1}}]":                     "the step is no result of a node",
		"fakes: {a: {error: {type: x, finl: true}}}\ncases: [{name: a, expect: {steps: 1}}]": "(did you mean final?)",
		"fakes: {a: {status: 9}}\ncases: [{name: a, expect: {steps: 1}}]":                    "status must be a whole number from 100",
		"fakes: {a: {status: 200, headers: {A: 1}}}\ncases: [{name: a, expect: {steps: 1}}]": "the header A must be text",
		"children: {a: {status: 200}}\ncases: [{name: a, expect: {steps: 1}}]":               `no field "status"`,
		"cases: [{name: a, name: b}]":                                                        "duplicate",
		"cases: [{name: yes}]":                                                               "ambiguous_scalar",
	} {
		suite, found := tidemilltest.ReadCases("x.test.yaml", []byte(written))
		require.Nil(t, suite, written)
		require.Contains(t, found.Error(), want, written)
		for _, d := range found {
			require.Positive(t, d.Line, written)
		}
	}
}

// Whatever is read, it is refused with places or can be run; it never panics.
func FuzzReadCases(f *testing.F) {
	example, err := os.ReadFile("../examples/order-approval/graphs/order-approval.test.yaml")
	require.NoError(f, err)
	f.Add(example)
	f.Add([]byte("cases: [{name: a, expect: {error: {cause: {type: x}}}}]"))
	f.Add([]byte("fakes: {a: [{status: 200, headers: {A: b}, output: x}, {pause: {}}]}\ncases: [{name: a, expect: {}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		suite, found := tidemilltest.ReadCases("x.test.yaml", data)
		require.Equal(t, suite == nil, found.HasErrors())
		if suite != nil {
			require.NotEmpty(t, suite.Cases)
		}
	})
}

// folder writes files of a test.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

const oneCase = "cases: [{name: all, children: {}, fakes: {look: {output: 1}}, expect: {output: 1}}]\n"

// The graph is found by the file's name, its children beside it or where the suite says;
// a neighbour that is broken is no concern of theirs.
func TestLoadCases(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"parent.yaml": parent, "review.yaml": review, "broken.yaml": "id: broken", "parent.test.yaml": oneCase,
		"far/parent.yaml": parent, "far/far.test.yaml": "graph: parent.yaml\nfiles: [../review.yaml]\n" + oneCase,
		"lost/parent.yaml": parent, "lost/parent.test.yaml": oneCase,
		"typo.test.yaml": "graph: parent.yaml\nfakes: {lok: {output: 1}}\n" + oneCase,
		"none.test.yaml": oneCase, "broken.test.yaml": oneCase,
	})
	for _, file := range []string{"parent.test.yaml", "far/far.test.yaml"} {
		suite, err := tidemilltest.LoadCases(filepath.Join(dir, file), nil)
		require.NoError(t, err)
		verdict := suite.Play(t.Context(), suite.Cases[0])
		require.Equal(t, tidemilltest.Passed, verdict.Outcome, "%+v", verdict)
	}
	for file, want := range map[string]string{
		"lost/parent.test.yaml": `there is no graph "review"`,
		"typo.test.yaml":        `typo.test.yaml:2:9: error[unknown_field]: there is a fake for action "lok", and the graph has none of that name (did you mean look?)`,
		"none.test.yaml":        "none.yaml: no such file",
		"broken.test.yaml":      "broken.yaml:1:1: error[",
		"nowhere.test.yaml":     "no such file",
	} {
		_, err := tidemilltest.LoadCases(filepath.Join(dir, file), nil)
		require.ErrorContains(t, err, want)
	}

	suite, err := tidemilltest.LoadCases(filepath.Join(dir, "parent.test.yaml"), func() *tidemill.App { return app(parent, review) })
	require.NoError(t, err)
	c := suite.Cases[0]
	c.Expect.Output, c.Expect.Status = 2, graph.StatusCompleted
	verdict := suite.Play(t.Context(), c)
	require.Equal(t, tidemilltest.Failed, verdict.Outcome)
	require.Equal(t, []tidemilltest.Difference{{What: "output", Want: "2", Got: "1"}}, verdict.Differences)
}

// Cases are tests of their own in Go.
func TestRunCases(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"parent.yaml": parent, "review.yaml": review, "parent.test.yaml": oneCase})
	tidemilltest.RunCases(t, filepath.Join(dir, "parent.test.yaml"), nil)
}
