package graph

import (
	"fmt"
	"strings"
)

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
	Child    *ChildDescription `json:"child,omitempty"`
	Map      *MapDescription   `json:"map,omitempty"`
	Mode     Mode              `json:"mode,omitempty"`
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

// ChildDescription is the graph that a workflow node runs.
type ChildDescription struct {
	Graph    string       `json:"graph"`
	Deadline Duration     `json:"deadline,omitzero"`
	MaxSteps int          `json:"max_steps,omitempty"`
	Inline   *Description `json:"inline,omitempty"` // the document, where it stands in the node
}

// MapDescription is what a map does for each item.
type MapDescription struct {
	Item           NodeDescription `json:"item"`
	MaxConcurrency int             `json:"max_concurrency"`
	Tolerate       *Tolerance      `json:"tolerate,omitempty"`
}

// ExitDescription is one way out of a node.
type ExitDescription struct {
	To   string `json:"to,omitempty"`   // a node id or end; absent: a callback may lead anywhere
	When string `json:"when,omitempty"` // absent: always
}

func (r describer) node(n *Node) NodeDescription {
	out := NodeDescription{
		ID: n.ID, Type: n.Type, Run: n.Run, Timeout: n.Timeout, Retry: n.Retry, Expires: n.Expires, Mode: n.Mode,
		Reads: n.Reads, ReadsAll: n.ReadsAll, Exits: []ExitDescription{}, Secrets: r.secrets[r.path+n.ID],
	}
	if n.Workflow != nil {
		out.Child = r.child(n)
	}
	if n.Item != nil {
		out.Map = &MapDescription{r.node(n.Item), n.MaxConcurrency, n.Tolerate}
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

func (r describer) child(n *Node) *ChildDescription {
	out := &ChildDescription{Graph: n.Workflow.Graph, Deadline: n.Deadline, MaxSteps: n.MaxSteps}
	if d := n.Workflow.Document; d != nil {
		inline := describer{r.secrets, r.path + n.ID + "/"}.document(d)
		out.Inline = &inline
	}
	return out
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
	b.WriteString("\n")
	if n.Map != nil {
		item := n.Map.Item
		item.ID = ItemID(n.ID)
		b.WriteString("\n" + item.String())
	}
	return b.String() + n.inline()
}

// inline are the nodes of a document that stands in the node, as PATH/NODE.
func (n NodeDescription) inline() string {
	if n.Child == nil || n.Child.Inline == nil {
		return ""
	}
	var b strings.Builder
	for _, inner := range n.Child.Inline.Nodes {
		inner.ID = n.ID + "/" + inner.ID
		b.WriteString("\n" + inner.String())
	}
	return b.String()
}

// facts are what bounds the node and what it needs.
func (n NodeDescription) facts() []string {
	facts := []string{string(n.Type)}
	if n.Run != nil {
		facts = append(facts, n.Run.String())
	}
	if n.Mode == ModeLocal {
		facts = append(facts, "in the workflow task")
	}
	if n.Child != nil {
		facts = append(facts, n.Child.facts()...)
	}
	if n.Map != nil {
		facts = append(facts, n.Map.facts()...)
	}
	if n.Timeout != 0 && (n.Timeout != None || n.Run != nil) { // others have none by nature
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

// facts are which graph is run, and what bounds it.
func (c *ChildDescription) facts() []string {
	facts := []string{"runs the graph " + c.Graph}
	if c.Inline != nil {
		facts[0] += ", which stands here"
	}
	if c.Deadline != 0 {
		facts = append(facts, "deadline "+c.Deadline.String())
	}
	if c.MaxSteps != 0 {
		facts = append(facts, fmt.Sprintf("%d steps", c.MaxSteps))
	}
	return facts
}

// facts are how many items run at once, and how many may fail.
func (m *MapDescription) facts() []string {
	facts := []string{fmt.Sprintf("at most %d at once", m.MaxConcurrency)}
	switch t := m.Tolerate; {
	case t == nil:
	case t.Count > 0:
		facts = append(facts, fmt.Sprintf("%d may fail", t.Count))
	default:
		facts = append(facts, fmt.Sprintf("%v %% may fail", t.Percent))
	}
	return facts
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
