package permits_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// example are the rules of the manual: one resource with a rate, a bound per
// partition, a domain of its own for a trigger, and planners in one lane.
func example() permits.Rules {
	seventy := 70
	return permits.Rules{
		Partition: permits.Partition{From: "${ run.lane.app }", Known: []string{"acme", "globex"}},
		Rules: []permits.Rule{
			{
				When: "node == 'charge'", Priority: &seventy,
				Keys:  []admission.Units{{Key: "resource:payments"}, {Key: "partition:${ partition }", Units: 2}},
				Rates: []admission.Units{{Key: "resource:payments", Units: 3}},
			},
			{When: "trigger != ''", Domain: "ambient", Keys: []admission.Units{{Key: "trigger:${ trigger }"}}, Flow: "${ trigger + '/' + graph }"},
			{When: "agent in ['planner', 'critic']", Agent: "thinker"},
			{When: "type == 'agent' && partition == 'acme'", Keys: []admission.Units{{Key: "model:${ agent.upperAscii() }"}}},
			{When: "tool.startsWith('web_')", Keys: []admission.Units{{Key: "${ 'tool:' + tool }"}}},
			{When: "action == 'free'"},
			{When: "graph == 'nightly'", Flow: "$${literal}"},
		},
	}
}

// A rule that asked for other keys than the configuration says, or a later rule that
// won over an earlier one, would let work past its limits.
func TestClassify(t *testing.T) {
	t.Parallel()
	classify, err := permits.Compile(example())
	require.NoError(t, err)
	seventy := 70
	for _, test := range []struct {
		name  string
		facts permits.Facts
		want  permits.Class
	}{
		{"nothing holds", permits.Facts{Node: "a", Type: "action", App: "acme"}, permits.Class{Flow: "acme"}},
		{"no lane", permits.Facts{Node: "a"}, permits.Class{Flow: "other"}},
		{"a made-up partition", permits.Facts{Node: "a", App: "acme2"}, permits.Class{Flow: "other"}},
		{"the caller's own partition counts for nothing", permits.Facts{Node: "a", Partition: "acme"}, permits.Class{Flow: "other"}},
		{"an agent needs itself", permits.Facts{Type: "agent", Agent: "writer"}, permits.Class{Agent: "writer", Flow: "other"}},
		{"an action has no agent", permits.Facts{Type: "action", Agent: "writer"}, permits.Class{Flow: "other"}},
		{
			"keys, rates and a priority",
			permits.Facts{Node: "charge", Trigger: "nightly", App: "globex"},
			permits.Class{
				Keys:  []admission.Units{{Key: "resource:payments"}, {Key: "partition:globex", Units: 2}},
				Rates: []admission.Units{{Key: "resource:payments", Units: 3}}, Flow: "globex", Priority: &seventy,
			},
		},
		{
			"another domain and flow",
			permits.Facts{Node: "a", Graph: "order", Trigger: "nightly"},
			permits.Class{Domain: "ambient", Keys: []admission.Units{{Key: "trigger:nightly"}}, Flow: "nightly/order"},
		},
		{"an agent under another name", permits.Facts{Type: "agent", Agent: "critic"}, permits.Class{Agent: "thinker", Flow: "other"}},
		{
			"a rule that names no agent leaves it",
			permits.Facts{Type: "agent", Agent: "writer", App: "acme"},
			permits.Class{Agent: "writer", Keys: []admission.Units{{Key: "model:WRITER"}}, Flow: "acme"},
		},
		{"a tool", permits.Facts{Type: "tool", Tool: "web_search"}, permits.Class{Keys: []admission.Units{{Key: "tool:web_search"}}, Flow: "other"}},
		{"a rule that asks for nothing", permits.Facts{Action: "free"}, permits.Class{Flow: "other"}},
		{"an escaped text", permits.Facts{Graph: "nightly"}, permits.Class{Flow: "${literal}"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := classify(test.facts)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// Without rules every agent needs itself, and all are in one flow.
func TestClassifyWithoutRules(t *testing.T) {
	t.Parallel()
	classify, err := permits.Compile(permits.Rules{})
	require.NoError(t, err)
	class, err := classify(permits.Facts{Type: "agent", Agent: "planner", App: "acme"})
	require.NoError(t, err)
	require.Equal(t, permits.Class{Agent: "planner", Flow: permits.PartitionOther}, class)
}

// The partition may be made of more than the lane, and one that cannot be made out
// must not pass for another.
func TestPartition(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, want, fails string }{
		{from: "${ run.lane.user }", want: "u"},
		{from: "${ run.lane.session }", want: "s"},
		{from: "${ run.id }", want: "w"},
		{from: "${ run.id.startsWith('w') ? 'vip' : 'rest' }", want: "vip"},
		{from: "${ graph }-${ node }", want: "g-n"},
		{from: "u", want: "u"},
		{from: "${ run.lane.app }", want: "other"},
		{from: "${ run.lane.app + '' }", want: "other"},
		{from: "${ run.lane.app.split('/')[1] }", fails: "partition.from"},
	} {
		t.Run(test.from, func(t *testing.T) {
			t.Parallel()
			classify, err := permits.Compile(permits.Rules{Partition: permits.Partition{From: test.from, Known: []string{"u", "s", "w", "vip", "g-n"}}})
			require.NoError(t, err)
			class, err := classify(permits.Facts{Graph: "g", Node: "n", WorkflowID: "w", User: "u", Session: "s"})
			if test.fails != "" {
				require.ErrorIs(t, err, permits.ErrUnclassified)
				require.ErrorContains(t, err, test.fails)
				require.Zero(t, class)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, class.Flow)
		})
	}
}

// Under a rule that cannot be evaluated nothing is admitted: neither as if it did
// not hold, nor with what was made out so far.
func TestClassificationFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		rule permits.Rule
		want string
	}{
		{"a condition", permits.Rule{When: "int(node) > 1"}, "rules[0]: when: "},
		{"no truth value", permits.Rule{When: "size(node) > 1 ? node : true"}, "true or false"},
		{"a key", permits.Rule{Keys: []admission.Units{{Key: "a"}, {Key: "k:${ node.split('/')[4] }"}}}, "rules[0]: keys[1]: "},
		{"a rate", permits.Rule{Rates: []admission.Units{{Key: "k:${ int(node) }"}}}, "rules[0]: rates[0]: "},
		{"a domain", permits.Rule{Domain: "${ string(int(node)) }"}, "rules[0]: domain: "},
		{"no name of a domain", permits.Rule{Domain: "${ node }"}, "not the name of a domain"},
		{"no text", permits.Rule{Agent: "${ size(node) > 1 ? 1 : node }"}, "rules[0]: agent: the expression gives no text"},
		{"an empty key", permits.Rule{Keys: []admission.Units{{Key: "${ tool }"}}}, "keys[0].key: is empty"},
		{"a long key", permits.Rule{Keys: []admission.Units{{Key: "${ graph }"}}}, "keys[0].key: has 300 bytes; at most 256"},
		{"a long agent", permits.Rule{Agent: "${ graph }"}, "agent: has 300 bytes"},
		{"a long flow", permits.Rule{Flow: "${ graph }"}, "flow: has 300 bytes"},
		{"a key twice", permits.Rule{Keys: []admission.Units{{Key: "a/b c"}, {Key: "${ node }"}}}, "stands twice"},
		{"a key of agents", permits.Rule{Keys: []admission.Units{{Key: "${ action }"}}}, "name the agent instead"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			classify, err := permits.Compile(permits.Rules{Rules: []permits.Rule{test.rule}})
			require.NoError(t, err)
			class, err := classify(permits.Facts{Node: "a/b c", Graph: strings.Repeat("g", 300), Action: "agent:x", Type: "agent", Agent: "planner"})
			require.ErrorIs(t, err, permits.ErrUnclassified)
			require.ErrorContains(t, err, test.want)
			require.Zero(t, class)
		})
	}
}

// A configuration is mended in one go when all its mistakes are told at once, each
// with its place and what to write.
func TestCompileRulesMistakes(t *testing.T) {
	t.Parallel()
	over := 101
	key := func(text string) []admission.Units { return []admission.Units{{Key: text}} }
	for _, test := range []struct {
		name  string
		rules permits.Rules
		want  []string
	}{
		{"no list", permits.Rules{Partition: permits.Partition{From: "${ run.id }"}}, []string{"partition.known: names no partition"}},
		{"no source", permits.Rules{Partition: permits.Partition{Known: []string{"a"}}}, []string{"partition.from: is missing"}},
		{
			"wrong names",
			permits.Rules{Partition: permits.Partition{From: "${ run.id }", Known: []string{"", "other", "a", "a"}}},
			[]string{"partition.known[0]: is no name", "partition.known[1]: other is", `partition.known[3]: "a" stands twice`},
		},
		{"partition of itself", permits.Rules{Partition: permits.Partition{From: "${ partition }", Known: []string{"a"}}}, []string{"partition.from, character 4: partition is not available here"}},
		{"partition of the state", permits.Rules{Partition: permits.Partition{From: "${ state.tenant }", Known: []string{"a"}}}, []string{"partition.from, character 4: state is not available here"}},
		{"a number", permits.Rules{Partition: permits.Partition{From: "${ size(run.id) }", Known: []string{"a"}}}, []string{"partition.from: gives no text; write string(…)"}},
		{
			"everything at once",
			permits.Rules{
				Partition: permits.Partition{From: "${ run.lane.tenant }", Known: []string{"a"}},
				Rules: []permits.Rule{
					{When: "nod == 'x'", Domain: "a/b", Agent: "${ }", Keys: key("${ run.id }"), Rates: key("r:${"), Flow: "${ state.a }", Priority: &over},
					{When: "node", Keys: key("${ size(node) }")},
				},
			},
			[]string{
				"partition.from, character 12: run.lane has no field",
				"rules[0].when: there is no name nod; did you mean node?", "rules[0].agent, character 4: the expression is empty; write the name of a fact",
				"rules[0].keys[0].key, character 4: run is not available here", "rules[0].rates[0].key, character 3: ${ is not closed",
				"rules[0].flow, character 4: state is not available", `rules[0].domain: "a/b" is not the name of a domain`,
				"rules[0].priority: is 101; it must lie between 0 and 100",
				"rules[1].when: gives no truth value; compare something", "rules[1].keys[0].key: gives no text",
			},
		},
		{"dead rules", permits.Rules{Rules: []permits.Rule{{Agent: "a"}, {When: "true"}}}, []string{"rules[0].when: is missing, so that the rules behind"}},
		{"an empty key", permits.Rules{Rules: []permits.Rule{{Keys: key("")}}}, []string{"rules[0].keys[0].key: is empty"}},
		{"a key for many", permits.Rules{Rules: []permits.Rule{{Keys: key("a*")}}}, []string{"only limits may stand for many keys"}},
		{"global", permits.Rules{Rules: []permits.Rule{{Keys: key("global")}}}, []string{"rules[0].keys[0].key: \"global\" is counted for agents"}},
		{"units", permits.Rules{Rules: []permits.Rule{{Rates: []admission.Units{{Key: "r", Units: -1}}}}}, []string{"rules[0].rates[0].units: is -1"}},
		{"too many keys", permits.Rules{Rules: []permits.Rule{{Keys: make([]admission.Units, 9)}}}, []string{"rules[0].keys: has 9 entries; at most 8"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := permits.Compile(test.rules)
			var found permits.RuleErrors
			require.ErrorAs(t, err, &found)
			require.Len(t, found, len(test.want), "%v", err)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// Keys that are made of facts show what is missing only at run time, unless nothing
// in the limits begins as they do.
func TestUnlikely(t *testing.T) {
	t.Parallel()
	limits := map[string]admission.Limits{"default": {Keys: []admission.KeyLimit{
		{Key: "partition:acme", Limit: 5}, {Key: "model:*", Limit: 2}, {Key: "resource", Limit: 1},
	}}}
	rule := func(key string) permits.RuleErrors {
		return permits.Unlikely(permits.Rules{Rules: []permits.Rule{{Keys: []admission.Units{{Key: key}}}}}, limits)
	}
	for _, likely := range []string{
		"partition:${ partition }", "model:large:${ node }", "mod${ node }", "${ node }", "plain", "$${ literal }", "res${ node }",
	} {
		require.Empty(t, rule(likely), likely)
	}
	for _, never := range []string{"tenant:${ partition }", "partition:acme:${ node }", "resources${ node }"} {
		require.Len(t, rule(never), 1, never)
	}
	require.EqualError(t, rule("tenant:${ partition }"), `permits: rules[0].keys[0].key: the limits have no "tenant:${ partition }" among their keys, so that it would never be granted; add it to keys of the limits: "tenant:*"`)
}

// A key that no limit stands for would keep its nodes waiting until their deadline;
// that it was misspelt shows when the worker starts.
func TestUncovered(t *testing.T) {
	t.Parallel()
	limits := map[string]admission.Limits{
		"default": {
			Keys:  []admission.KeyLimit{{Key: "resource:payments", Limit: 5}, {Key: "model:*", Limit: 2}},
			Rates: []admission.KeyRate{{Key: "resource:payments", Rate: admission.Rate{Limit: 1, Per: 1}}},
		},
		"ambient": {},
	}
	key := func(keys ...string) []admission.Units {
		var units []admission.Units
		for _, k := range keys {
			units = append(units, admission.Units{Key: k})
		}
		return units
	}
	found := permits.Uncovered(permits.Rules{Rules: []permits.Rule{
		{Keys: key("resource:payments", "model:large", "partition:${ partition }"), Rates: key("resource:payments")},
		{Keys: key("resource:payment", "model"), Rates: key("model:large")},
		{Domain: "ambient", Keys: key("resource:payments")},
		{Domain: "elsewhere", Keys: key("resource:payments")},
		{Domain: "${ partition }", Keys: key("anything")},
	}}, limits)
	require.EqualError(t, found, `permits: rules[1].keys[0].key: the limits have no "resource:payment" among their keys, so that it would never be granted; add it to keys of the limits: "resource:payment", or "resource:*" for all like it
permits: rules[1].keys[1].key: the limits have no "model" among their keys, so that it would never be granted; add it to keys of the limits: "model"
permits: rules[1].rates[0].key: the limits have no "model:large" among their rates, so that it would never be granted; add it to rates of the limits: "model:large", or "model:*" for all like it
permits: rules[2].keys[0].key: the limits have no "resource:payments" among their keys, so that it would never be granted; add it to keys of the limits: "resource:payments", or "resource:*" for all like it
permits: rules[3].domain: there are no limits for a domain "elsewhere"; add it to domains`)
}
