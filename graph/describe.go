package graph

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Description is the structure of a compiled document for people and tools. It
// shows how nodes lead to each other and what bounds them, and none of the
// values that the document holds: no arguments, outputs, deltas or schemas.
type Description struct {
	ID          string            `json:"id"`
	Revision    string            `json:"revision,omitempty"`
	Description string            `json:"description,omitempty"`
	Fingerprint string            `json:"fingerprint"`
	Entry       string            `json:"entry"`
	MaxSteps    int               `json:"max_steps"`
	Deadline    Duration          `json:"deadline,omitzero"`
	Reducers    []Reducer         `json:"state_reducers,omitempty"`
	Callbacks   []Callback        `json:"callbacks,omitempty"`
	Nodes       []NodeDescription `json:"nodes"`
	Warnings    Diagnostics       `json:"warnings"`
}

// NodeDescription is one node of a Description.
type NodeDescription struct {
	ID       string            `json:"id"`
	Type     NodeType          `json:"type"`
	Run      *Run              `json:"run,omitempty"`
	Exits    []ExitDescription `json:"exits"`
	Timeout  Duration          `json:"timeout,omitzero"`
	Retry    *Retry            `json:"retry,omitempty"`
	Expires  Duration          `json:"expires,omitzero"`
	MaxTurns *int              `json:"max_iterations,omitempty"`
	Fork     *ForkDescription  `json:"fork,omitempty"`
	Recovers bool              `json:"recovers,omitempty"` // a branch that completes in spite of a failure
	Reads    []string          `json:"reads,omitempty"`
	ReadsAll bool              `json:"reads_all,omitempty"`
	Secrets  []string          `json:"secrets,omitempty"` // names of the secrets that args use
}

// ForkDescription is what a fork adds to its exits, which are its branches.
type ForkDescription struct {
	Join           string     `json:"join"`
	JoinPolicy     JoinPolicy `json:"join_policy"`
	Merge          MergeKind  `json:"merge"`
	MergeCall      string     `json:"merge_call,omitempty"`
	MaxConcurrency int        `json:"max_concurrency"`
}

// ExitDescription is one way out of a node.
type ExitDescription struct {
	To   string `json:"to,omitempty"`   // a node id or end; absent: a callback may lead anywhere
	When string `json:"when,omitempty"` // absent: always
}

// Describe describes a compiled document.
func Describe(c *Compiled) Description {
	d := c.Document
	out := Description{
		ID: d.ID, Revision: d.Revision, Description: d.Description, Fingerprint: c.Fingerprint,
		Entry: d.Entry, MaxSteps: d.MaxSteps, Deadline: d.Deadline, Reducers: d.Reducers,
		Callbacks: d.Callbacks, Nodes: make([]NodeDescription, len(d.Nodes)), Warnings: c.Warnings,
	}
	for i := range d.Nodes {
		out.Nodes[i] = describeNode(&d.Nodes[i])
		out.Nodes[i].Secrets = c.secrets[d.Nodes[i].ID]
	}
	return out
}

func describeNode(n *Node) NodeDescription {
	out := NodeDescription{
		ID: n.ID, Type: n.Type, Run: n.Run, Timeout: n.Timeout, Retry: n.Retry, Expires: n.Expires,
		Reads: n.Reads, ReadsAll: n.ReadsAll, Exits: []ExitDescription{},
	}
	if n.Type == TypeLoop {
		out.MaxTurns = &n.MaxIterations
	}
	if n.Type == TypeFork {
		out.Fork = &ForkDescription{n.Join, *n.JoinPolicy, n.Merge, n.MergeCall, n.MaxConcurrency}
	}
	out.Recovers = n.OnError != nil && (n.OnError.Output != nil || n.OnError.Delta != nil)
	for _, e := range n.exits() {
		out.Exits = append(out.Exits, ExitDescription{To: e.To, When: e.Label})
	}
	return out
}

// String renders the description as text for a terminal.
func (d Description) String() string {
	var b strings.Builder
	// Writing to a strings.Builder cannot fail.
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("graph\t%s", d.ID)
	if d.Revision != "" {
		line("revision\t%s", d.Revision)
	}
	if d.Description != "" {
		line("description\t%s", d.Description)
	}
	line("fingerprint\t%s", d.Fingerprint)
	line("entry\t%s", d.Entry)
	line("bounds\t%s", d.boundsText())
	for _, r := range d.Reducers {
		line("reducer\t%s: %s", r.Key, r.Kind)
	}
	for _, c := range d.Callbacks {
		line("callback\t%s, version %d", c.Name, c.Version)
	}
	_ = w.Flush()
	for _, n := range d.Nodes {
		b.WriteString("\n" + n.String())
	}
	for i, warning := range d.Warnings {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(warning.String() + "\n")
	}
	return b.String()
}

func (d Description) boundsText() string {
	if d.Deadline == 0 {
		return fmt.Sprintf("%d steps, no deadline", d.MaxSteps)
	}
	return fmt.Sprintf("%d steps, deadline %s", d.MaxSteps, d.Deadline)
}

// String renders the node: a line for itself, then one for each way out.
func (n NodeDescription) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)", n.ID, strings.Join(n.facts(), ", "))
	for _, e := range n.Exits {
		to := e.To
		if to == "" {
			to = "any node"
		}
		if e.When != "" {
			to += "  [" + e.When + "]"
		}
		b.WriteString("\n  -> " + to)
	}
	return b.String() + "\n"
}

// facts are what bounds the node and what it needs.
func (n NodeDescription) facts() []string {
	facts := []string{string(n.Type)}
	if n.Run != nil {
		facts = append(facts, n.Run.String())
	}
	if n.Timeout != 0 {
		facts = append(facts, "timeout "+n.Timeout.String())
	}
	if n.Retry != nil && n.Retry.MaxAttempts > 1 {
		facts = append(facts, fmt.Sprintf("%d attempts", n.Retry.MaxAttempts))
	}
	if n.Expires != 0 {
		facts = append(facts, "expires "+n.Expires.String())
	}
	if n.MaxTurns != nil {
		facts = append(facts, fmt.Sprintf("at most %d turns", *n.MaxTurns))
	}
	if n.Fork != nil {
		facts = append(facts, n.Fork.facts()...)
	}
	if n.Recovers {
		facts = append(facts, "completes in spite of a failure")
	}
	switch {
	case n.ReadsAll:
		facts = append(facts, "reads all of the state")
	case len(n.Reads) > 0:
		facts = append(facts, "reads "+strings.Join(n.Reads, " "))
	}
	if len(n.Secrets) > 0 {
		facts = append(facts, "secrets "+strings.Join(n.Secrets, " "))
	}
	return facts
}

// facts are how the fork's branches come together.
func (f *ForkDescription) facts() []string {
	merge := string(f.Merge)
	if f.MergeCall != "" {
		merge += " " + f.MergeCall
	}
	return []string{
		"join " + f.Join, "policy " + f.JoinPolicy.String(), "merge " + merge, fmt.Sprintf("at most %d at once", f.MaxConcurrency),
	}
}

// String names what an action runs.
func (r Run) String() string {
	switch {
	case r.Activity == "":
		return "runs " + r.Name
	case r.TaskQueue == "":
		return "runs the activity " + r.Activity
	}
	return fmt.Sprintf("runs the activity %s on %s", r.Activity, r.TaskQueue)
}
