package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/admissiontest"
)

const payments = "resource:payments"

// charging is a domain of the test's own in which a has the only unit of a key and b
// waits for it.
func charging(t *testing.T, files ...string) world {
	t.Helper()
	w := setup(t, files...)
	limits := admission.Limits{
		Version: 2, Keys: []admission.KeyLimit{{Key: payments, Limit: 1}},
		Rates: []admission.KeyRate{{Key: payments, Rate: admission.Rate{Limit: 100, Per: time.Second}}},
	}
	a, b := admissiontest.Request("a", payments), admissiontest.Request("b", payments)
	a.Rates = []admission.Units{{Key: payments}}
	b.Flow = "acme"
	admissiontest.New(t, w.server, w.queue).Submit(t, w.queue, limits, a, b)
	return w
}

// An operator must see at a glance what is used, what waits, and who holds it.
func TestAdmissionStatus(t *testing.T) {
	t.Parallel()
	w := charging(t)
	r := w.call(t, "admission", "status", "--domain", w.queue)
	require.Equal(t, exitCompleted, r.code, r.err)
	require.Regexp(t, `(?m)^domain +`+w.queue+`$`, r.out)
	require.Regexp(t, `(?m)^waiting +1 of at most 1024$`, r.out)
	require.Regexp(t, `(?m)^KEY +USED +LIMIT +KEPT +WAITING\nglobal +0 +1024 +- +-\nresource:payments +1 +1 +0 +1$`, r.out)
	require.Regexp(t, `(?m)^RATE +READY +LIMIT +WAITING\nresource:payments +\d+ +100 per 1s +0$`, r.out)
	require.Regexp(t, `(?m)^HELD BY +FOR +KEYS +REQUEST\na +\S+ +resource:payments +a/first/charge#1!1$`, r.out)

	r = w.call(t, "admission", "status", "--domain", w.queue, "--output", "json")
	require.Equal(t, exitCompleted, r.code, r.err)
	document := r.document(t)
	require.Equal(t, w.queue, document["domain"])
	require.EqualValues(t, 1, document["status"].(map[string]any)["queue_length"])
	require.Len(t, document["holders"], 1)
}

// The one command that says why something waits must name key, numbers, place and
// holder; of what does not wait, what it does.
func TestAdmissionExplain(t *testing.T) {
	t.Parallel()
	w := charging(t, "approval.yaml")
	r := w.call(t, "admission", "explain", "b", "--domain", w.queue)
	require.Equal(t, exitCompleted, r.code, r.err)
	require.True(t, strings.HasPrefix(r.out, "b waits for a permit: resource:payments has too little room, 1 of 1 in use\n"), r.out)
	require.Regexp(t, `(?m)^request +b/first/charge#1!1\n +of b, in domain `+w.queue+`$`, r.out)
	require.Regexp(t, `(?m)^since +\S+Z, for \d\S*s$`, r.out)
	require.Regexp(t, `(?m)^place +1 in its lane of flow acme$`, r.out)
	require.Regexp(t, `(?m)^next check +\S+Z$`, r.out)
	require.Regexp(t, `(?m)^held by +a for \S+, 1 unit \(a/first/charge#1!1\)$`, r.out)

	r = w.call(t, "admission", "explain", "b/first/charge#1!1", "--domain", w.queue, "--output", "json")
	require.Equal(t, exitCompleted, r.code, r.err)
	request := r.document(t)["requests"].([]any)[0].(map[string]any)
	require.Equal(t, "limit", request["explanation"].(map[string]any)["reason"])
	require.Len(t, request["holders"], 1)

	r = w.call(t, "admission", "explain", "a", "--domain", w.queue)
	require.Contains(t, r.out, "a holds a permit since ")
	require.Regexp(t, `token \d+, lease until `, r.out)

	r = w.call(t, "run", "approval", "--id", w.queue, "--task-queue", w.queue, "--input", `{"order":"7"}`)
	require.Equal(t, exitPaused, r.code, r.err)
	r = w.call(t, "admission", "explain", w.queue)
	require.Equal(t, exitCompleted, r.code, r.err)
	require.True(t, strings.HasPrefix(r.out, w.queue+" does not wait for a permit: it is paused at approve#1\n"), r.out)
}

// Each change says what it did, and the book has it.
func TestAdmissionChanges(t *testing.T) {
	t.Parallel()
	w := charging(t)
	for _, step := range []struct {
		args []string
		says string
	}{
		{[]string{"pause", payments}, "resource:payments is paused in domain " + w.queue + "; 1 permit, 1 waiting\n"},
		{[]string{"set-limit", payments, "2"}, "the limit of resource:payments is 2 in domain " + w.queue + "; 1 permit, 1 waiting\n"},
		{[]string{"resume", payments}, "resource:payments goes on in domain " + w.queue + "; 2 permits, 0 waiting\n"},
		{[]string{"set-limit", payments, "none"}, "the limit of resource:payments is that of the configuration again in domain "},
		{[]string{"set-rate", payments, "5/1m,burst=2"}, "the rate of resource:payments is 5 per 1m0s, burst 2 in domain "},
		{[]string{"set-limit", "resource:later", "4"}, "the limit of resource:later is 4 in domain "},
		{[]string{"pause"}, "everything is paused in domain "},
		{[]string{"drain"}, "everything drains in domain "},
	} {
		r := w.call(t, append(append([]string{"admission"}, step.args...), "--domain", w.queue)...)
		require.Equal(t, exitCompleted, r.code, r.err)
		require.True(t, strings.HasPrefix(r.out, step.says), r.out)
	}
	r := w.call(t, "admission", "status", "--domain", w.queue)
	require.Regexp(t, `(?m)^state +draining; everything is paused$`, r.out)
	require.Regexp(t, `(?m)^changed live +limit of resource:later 4; rate of resource:payments 5 per 1m0s, burst 2$`, r.out)
	r = w.call(t, "admission", "resume", "--domain", w.queue, "--output", "json")
	require.Equal(t, exitCompleted, r.code, r.err)
	document := r.document(t)
	require.Equal(t, "resume", document["action"])
	require.Equal(t, false, document["status"].(map[string]any)["draining"])
}

// A domain that has no book is an error of its own, and says where limits belong.
func TestAdmissionOfAnUnknownDomain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, args := range [][]string{
		{"status"},
		{"explain", "nobody"},
		{"set-limit", payments, "3"},
		{"pause"},
	} {
		r := w.call(t, append(append([]string{"admission"}, args...), "--domain", w.queue+"-none", "--output", "json")...)
		require.Equal(t, exitFailed, r.code, r.err)
		require.Equal(t, tidemill.ErrTypeUnknownDomain, r.problem(t).Type)
		require.Equal(t, "--domain", r.problem(t).Where)
		if args[0] == "set-limit" {
			require.Contains(t, r.err, "put it into the workers' configuration")
		}
	}
}

// What makes no sense must be refused before a server hears of it: here there is none.
func TestAdmissionUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		want string // type of the error
	}{
		{"", typeUsage},
		{"stop", typeUsage},
		{"status now", typeUsage},
		{"explain", typeUsage},
		{"explain a b", typeUsage},
		{"set-limit a", typeUsage},
		{"set-limit a many", typeUsage},
		{"set-limit a -1", typeUsage},
		{"set-limit a 1.5", typeUsage},
		{"set-limit a 2000000", tidemill.ErrTypeInvalidAdmission},
		{"set-limit " + strings.Repeat("k", 300) + " 1", tidemill.ErrTypeInvalidAdmission},
		{"set-rate a 5", typeUsage},
		{"set-rate a 5/", typeUsage},
		{"set-rate a 5/none", typeUsage},
		{"set-rate a 5/0s", typeUsage},
		{"set-rate a -5/1s", typeUsage},
		{"set-rate a 5/1s,2", typeUsage},
		{"set-rate a 5/1s,burst=0", typeUsage},
		{"set-rate a 5/1s,burst=2,burst=3", typeUsage},
		{"set-rate a 5000000/1s", tidemill.ErrTypeInvalidAdmission},
		{"set-rate a 5/3ns", tidemill.ErrTypeInvalidAdmission},
		{"pause a b", typeUsage},
		{"drain a", typeUsage},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"admission", "--address", "127.0.0.1:1", "--output", "json"}, strings.Fields(test.args)...)
			r := call(t.Context(), "", args...)
			require.Equal(t, exitUsage, r.code, "%s%s", r.out, r.err)
			require.Equal(t, test.want, r.problem(t).Type)
			require.NotEmpty(t, r.problem(t).Message)
		})
	}
	for _, verb := range []string{"pause", "resume", "explain"} {
		require.Equal(t, exitUsage, call(t.Context(), "", "admission", verb, "", "--address", "127.0.0.1:1").code, "an unset variable is nothing, not everything")
	}
}

// A run that waits for a permit says so wherever it is looked at: what for, when it is
// looked at again, and where to learn more. Each wait is told once.
func TestWaitsForPermitsAreShown(t *testing.T) {
	t.Parallel()
	var r tidemill.Report
	r.ID, r.Status, r.Nodes = "order-7", tidemill.StatusRunning, []graph.NodeRecord{{Node: "charge", Visits: 1, Status: graph.NodeWaiting}}
	at := time.Date(2026, 12, 3, 10, 0, 0, 0, time.UTC)
	r.Waiting = []graph.Waiting{{Address: "charge#1", Reason: "admission: limit of resource:payments", NextCheck: &at}}

	var out strings.Builder
	writeReport(&out, r)
	require.Contains(t, out.String(), "charge#1: admission: limit of resource:payments, next at 2026-12-03T10:00:00Z\n")
	require.Contains(t, out.String(), "starter admission explain 'order-7'\n")
	require.Equal(t, "   └─ charge#1: admission: limit of resource:payments, next at 2026-12-03T10:00:00Z", tree(r)[2])

	var lines []string
	p := newProgress(func(format string, args ...any) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf(format, args...)))
	})
	p.see(r)
	later := at.Add(time.Second)
	r.Waiting[0].NextCheck = &later
	p.see(r)
	require.Equal(t, []string{"charge       waiting", "charge#1     admission: limit of resource:payments, next at 2026-12-03T10:00:00Z"}, lines)

	r.Waiting[0].Reason = "backing off before the next attempt"
	out.Reset()
	writeReport(&out, r)
	require.NotContains(t, out.String(), "admission")
}
