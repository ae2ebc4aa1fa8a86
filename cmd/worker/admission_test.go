package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	example "github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/graph"
)

// Every key of the section must reach the worker: a limit that is read and dropped
// looks like one that works.
func TestAdmissionConfig(t *testing.T) {
	t.Parallel()
	c, err := readConfig("testdata/worker.yaml")
	require.NoError(t, err)
	seventy := 70
	require.Equal(t, &tidemill.AdmissionOptions{
		Limits: admission.Limits{
			Version: 3, Global: 256, DefaultAgent: 16,
			Agents: []admission.KeyLimit{{Key: "planner", Limit: 4}},
			Keys:   []admission.KeyLimit{{Key: "resource:payments", Limit: 5}, {Key: "partition:*", Limit: 20}},
			Rates: []admission.KeyRate{{
				Key: "resource:payments", Rate: admission.Rate{Limit: 100, Per: time.Second, Burst: 120},
			}},
			MaxQueue: 512, Queues: []admission.KeyLimit{{Key: "resource:payments", Limit: 50}},
			Flows: []admission.FlowWeight{{Flow: "acme", Weight: 3}}, FlowShare: 40,
			Overflow: admission.OverflowQueue, QueueTimeout: admission.None,
			Boost: 5 * time.Minute, Patience: 10 * time.Second, Lease: 30 * time.Second, MaxHold: 2 * time.Hour,
		},
		Domains: []tidemill.AdmissionDomain{{Name: "batch", Limits: admission.Limits{Global: 8, MaxQueue: admission.None}}},
		Rules: tidemill.AdmissionRules{
			Partition: tidemill.AdmissionPartition{From: "${ run.lane.app }", Known: []string{"acme", "globex"}},
			Rules: []tidemill.AdmissionRule{
				{
					When: "node == 'charge'", Priority: &seventy, Keys: []tidemill.AdmissionUnits{{Key: "resource:payments"}},
					Rates: []tidemill.AdmissionUnits{{Key: "resource:payments", Units: 2}},
				},
				{When: "graph == 'nightly'", Domain: "batch", Agent: "night-${ agent }", Flow: "nightly"},
				{When: "partition != 'other'", Keys: []tidemill.AdmissionUnits{{Key: "partition:${ partition }", Units: 2}}},
			},
		},
	}, c.options.Admission)
}

// The example says its limits twice, as Go and as a file, for readers of either. They
// must be the same limits.
func TestAdmissionOfTheExample(t *testing.T) {
	t.Parallel()
	c, err := readConfig("../../examples/admission/worker.yaml")
	require.NoError(t, err)
	require.Equal(t, example.Options(), c.options.Admission)
}

// A limit or a rule that is not what it looks like must stop the worker, at its
// place and with what to write. Each row is one mistake and gives one diagnostic.
func TestAdmissionConfigMistakes(t *testing.T) {
	t.Parallel()
	const limits, rules, domains = "admission:\n  limits: {", "admission:\n  rules: [{", "admission:\n  domains: {"
	for _, test := range []struct{ name, text, want string }{
		{"no object", "admission: on7", `w.yaml:1:12: error[expected_map]`},
		{"an unknown key", "admission: {limit: {}}", `w.yaml:1:13: error[unknown_field]: there is no key "limit" here (write one of limits, max_queue, partitions, rules, domains)`},
		{"an unknown limit", limits + "globl: 3}", `w.yaml:2:12: error[unknown_field]: there is no key "globl" here`},
		{"the queue among the limits", limits + "max_queue: 3}", `w.yaml:2:12: error[unknown_field]`},
		{"a version below zero", limits + "version: -1}", "w.yaml:2:21: error[invalid_number]: a whole number was needed here (write a number from 0)"},
		{"a global limit of nothing", limits + "global: 0}", "w.yaml:2:20: error[invalid_number]: a whole number was needed here (write a number from 1)"},
		{"a fraction", limits + "global: 1.5}", "w.yaml:2:20: error[invalid_number]"},
		{"a number as text", limits + `default_agent: "3"}`, "w.yaml:2:27: error[invalid_number]"},
		{"a number too large for any", limits + "global: 99999999999}", "w.yaml:2:20: error[invalid_number]"},
		{"too large a limit", limits + "global: 1000001}", "w.yaml:2:20: error[invalid_limit]: limits/global is 1000001 (it must lie between 0 and 1000000)"},
		{"agents as a list", limits + "agents: [planner]}", "w.yaml:2:20: error[expected_map]: an object was needed here (write {name: value})"},
		{"an agent without a limit", limits + "agents: {planner: none}}", "w.yaml:2:30: error[invalid_number]"},
		{"an agent at nothing", limits + "agents: {a: 1, planner: 0}}", "w.yaml:2:36: error[invalid_limit]: limits/agents/planner is 0 (it must lie between 1 and 1000000)"},
		{"a key of agents", limits + "keys: {\"agent:a\": 1}}", `w.yaml:2:19: error[invalid_limit]: limits/keys/agent:a "agent:a" is counted for agents (set global, default_agent or agents)`},
		{"a key without a name", limits + `keys: {"": 1}}`, "w.yaml:2:19: error[invalid_limit]: limits/keys/ is empty"},
		{"a rate that is a number", limits + "rates: {a: 3}}", "w.yaml:2:23: error[expected_map]: an object was needed here (write the keys limit, per, burst)"},
		{"a rate without a time", limits + "rates: {a: {limit: 3}}}", "w.yaml:2:23: error[missing_field]: a rate needs per (write {limit: 100, per: 1s})"},
		{"a rate without a limit", limits + "rates: {a: {per: 3s}}}", "w.yaml:2:23: error[missing_field]: a rate needs limit"},
		{"a rate in a wrong time", limits + "rates: {a: {limit: 1, per: 1}}}", "w.yaml:2:39: error[invalid_duration]: a length of time was needed here (write for example 30s or 5m)"},
		{"a rate without burst", limits + "rates: {a: {limit: 1, per: 1s, burst: 0}}}", "w.yaml:2:50: error[invalid_number]"},
		{"too fast a rate", limits + "rates: {a: {limit: 9, per: 1ns}}}", "w.yaml:2:31: error[invalid_limit]: limits/rates/a/limit is more than one per nanosecond"},
		{"a queue too long", limits + "queues: {a: 5000}}", "w.yaml:2:24: error[invalid_limit]: limits/queues/a is 5000 (it must lie between 0 and 4096)"},
		{"a flow without weight", limits + "flows: {acme: 0}}", "w.yaml:2:26: error[invalid_number]"},
		{"a flow too heavy", limits + "flows: {acme: 1001}}", "w.yaml:2:26: error[invalid_limit]: limits/flows/acme is 1001"},
		{"a share over all", limits + "flow_share: 101}", "w.yaml:2:24: error[invalid_limit]: limits/flow_share is 101"},
		{"a share of nothing", limits + "flow_share: 0}", "w.yaml:2:24: error[invalid_number]: a whole number was needed here (write a number from 1, or none)"},
		{"another overflow", limits + "overflow: drop}", `w.yaml:2:22: error[invalid_limit]: limits/overflow is "drop" (write reject or queue)`},
		{"a timeout without unit", limits + "queue_timeout: 30}", "w.yaml:2:27: error[invalid_duration]: a length of time was needed here (write for example 30s or 5m, or none)"},
		{"a boost of nothing", limits + "boost: 0s}", "w.yaml:2:19: error[invalid_duration]"},
		{"no patience at all", limits + "patience: -1s}", "w.yaml:2:22: error[invalid_duration]"},
		{"no lease", limits + "lease: none}", "w.yaml:2:19: error[invalid_duration]: a length of time was needed here (write for example 30s or 5m)"},
		{"too long a hold", limits + "max_hold: 400d}", "w.yaml:2:22: error[invalid_limit]: limits/max_hold is 9600h0m0s (it must lie between 0 and 366 days)"},
		{"a queue of nothing", "admission: {max_queue: 0}", "w.yaml:1:24: error[invalid_number]: a whole number was needed here (write a number from 1, or none)"},
		{"a queue too long for any", "admission: {max_queue: 4097}", "w.yaml:1:24: error[invalid_limit]: max_queue is 4097"},
		{"partitions as a list", "admission: {partitions: [acme]}", "w.yaml:1:25: error[expected_map]"},
		{"partitions without names", `admission: {partitions: {from: "${ run.id }"}}`, "w.yaml:1:25: error[invalid_rule]: partitions.known: names no partition"},
		{"partitions from nowhere", `admission: {partitions: {known: [acme]}}`, "w.yaml:1:25: error[invalid_rule]: partitions.from: is missing, so that no run"},
		{"a partition that is no text", `admission: {partitions: {from: "${ run.id }", known: [acme, 7]}}`, "w.yaml:1:61: error[expected_text]"},
		{"a partition twice", `admission: {partitions: {from: "${ run.id }", known: [acme, acme]}}`, `w.yaml:1:61: error[invalid_rule]: partitions.known[1]: "acme" stands twice`},
		{"a partition from a number", `admission: {partitions: {from: 7, known: [acme]}}`, "w.yaml:1:32: error[expected_text]"},
		{"a partition from nothing known", `admission: {partitions: {from: "${ run.lane.tenant }", known: [acme]}}`, `w.yaml:1:32: error[unknown_name]: at character 12: run.lane has no field "tenant" (use one of app, user, session)`},
		{"rules as an object", "admission: {rules: {}}", "w.yaml:1:20: error[expected_list]"},
		{"a rule that is text", "admission: {rules: [x]}", "w.yaml:1:21: error[expected_map]"},
		{"an unknown part of a rule", rules + "if: x}]", `w.yaml:2:12: error[unknown_field]: there is no key "if" here (write one of when, domain, agent, keys, rates, flow, priority)`},
		{"a condition that is none", rules + "when: true}, {when: \"false\"}]", "w.yaml:2:18: error[expected_text]"},
		{"a condition that gives text", rules + "when: node}]", "w.yaml:2:18: error[invalid_rule]: rules[0].when: gives no truth value"},
		{"a misspelt fact", rules + "when: \"nod == 'a'\"}]", "w.yaml:2:18: error[unknown_name]: there is no name nod (did you mean node?)"},
		{"a rule that hides the next", rules + "agent: a}, {agent: b}]", "w.yaml:2:11: error[invalid_rule]: rules[0].when: is missing, so that the rules behind this one would never hold"},
		{"keys as text", rules + "keys: a}]", "w.yaml:2:18: error[expected_list]: a list was needed here (write [first, {key: second, units: 2}])"},
		{"a key that is a number", rules + "keys: [7]}]", "w.yaml:2:19: error[expected_text]"},
		{"a key without its name", rules + "keys: [{units: 2}]}]", "w.yaml:2:19: error[invalid_rule]: rules[0].keys[0].key: is empty"},
		{"no units", rules + `keys: [{key: "${ node }", units: 0}]}]`, "w.yaml:2:45: error[invalid_number]"},
		{"too many units", rules + `keys: [{key: "${ node }", units: 1000001}]}]`, "w.yaml:2:45: error[invalid_rule]: rules[0].keys[0].units: is 1000001 (it must lie between"},
		{"a cost of a key", rules + `keys: [{key: "${ node }", cost: 1}]}]`, `w.yaml:2:38: error[unknown_field]: there is no key "cost" here (write one of key, units)`},
		{"units of a rate", rules + `rates: [{key: "${ node }", units: 1}]}]`, `w.yaml:2:39: error[unknown_field]: there is no key "units" here (write one of key, cost)`},
		{"a key of the state", rules + `keys: ["a:${ state.a }"]}]`, "w.yaml:2:19: error[wrong_scope]: at character 6: state is not available here"},
		{"a key of no limit", rules + "keys: [payments]}]", `w.yaml:2:19: error[invalid_rule]: rules[0].keys[0].key: the limits have no "payments" among their keys, so that it would never be granted (add it to keys of the limits: "payments")`},
		{"a rate of no limit", rules + "rates: [{key: \"a:b\", cost: 2}]}]", `w.yaml:2:26: error[invalid_rule]: rules[0].rates[0].key: the limits have no "a:b" among their rates, so that it would never be granted (add it to rates of the limits: "a:b", or "a:*" for all like it)`},
		{"a priority over all", rules + "priority: 101}]", "w.yaml:2:22: error[invalid_rule]: rules[0].priority: is 101 (it must lie between 0 and 100)"},
		{"a priority in words", rules + "priority: high}]", "w.yaml:2:22: error[invalid_number]"},
		{"a domain that nobody has", rules + "domain: batch}]", `w.yaml:2:20: error[invalid_rule]: rules[0].domain: there are no limits for a domain "batch" (add it to domains)`},
		{"domains as a list", "admission: {domains: [batch]}", "w.yaml:1:22: error[expected_map]"},
		{"a domain with a space", domains + "a b: {}}", `w.yaml:2:13: error[invalid_value]: "a b" is not the name of a domain`},
		{"the default domain", domains + "default: {}}", "w.yaml:2:13: error[invalid_value]: the limits of the default domain stand in admission.limits"},
		{"rules in a domain", domains + "batch: {rules: []}}", `w.yaml:2:21: error[unknown_field]: there is no key "rules" here (write one of limits, max_queue)`},
		{"limits of a domain", domains + "batch: {limits: {agents: {a: 0}}}}", "w.yaml:2:42: error[invalid_limit]: domains/batch/limits/agents/a is 0"},
		{"the queue of a domain", domains + "batch: {max_queue: 5000}}", "w.yaml:2:32: error[invalid_limit]: domains/batch/max_queue is 5000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseConfig("w.yaml", []byte(test.text))
			require.ErrorContains(t, err, test.want)
			require.Len(t, diagnostics(t, err), 1, "one mistake, told once: %v", err)
		})
	}
}

// diagnostics are what an error of the configuration tells.
func diagnostics(t *testing.T, err error) graph.Diagnostics {
	t.Helper()
	var list graph.Diagnostics
	require.ErrorAs(t, err, &list)
	return list
}

// Everything that is wrong with a section comes at once, in the order of the file.
func TestAdmissionConfigTellsEverything(t *testing.T) {
	t.Parallel()
	_, err := parseConfig("w.yaml", []byte(`
admission:
  rules:
    - {when: "nod", keys: ["${ x }"]}
    - {when: "true", domain: nowhere}
  limits: {global: none, agents: {a: 0}}
  partitions: {from: "${ y }", known: [other]}
`))
	var places []string
	for _, d := range diagnostics(t, err) {
		places = append(places, d.Code+" "+d.Pointer)
	}
	require.Equal(t, []string{
		"unknown_name /admission/rules/0/when", "unknown_name /admission/rules/0/keys/0", "invalid_rule /admission/rules/1/domain",
		"invalid_number /admission/limits/global", "invalid_limit /admission/limits/agents/a",
		"unknown_name /admission/partitions/from", "invalid_rule /admission/partitions/known/0",
	}, places)
}
