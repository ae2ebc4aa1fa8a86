package graph

import "time"

// Redriving says how a run that has closed is taken up again. Stable: histories hold it.
type Redriving struct {
	// From is the address of what is to be repeated, with everything behind it; empty:
	// the run goes on where it stood. It may name an activation (ship#1), a branch of a
	// fork or an item of a map that is still under way (each#1/17), also one that has
	// committed, and any of these in a child (review#1/charge#1).
	From Address `json:"from,omitempty"`
	// Deadline is the new budget of running time; zero: the graph's. None: no limit.
	Deadline Duration `json:"deadline,omitzero"`
	// MaxSteps is the new budget of steps; zero: what is left of the old one.
	MaxSteps int       `json:"max_steps,omitempty"`
	Now      time.Time `json:"now"`
	// Corrected says that another graph than the run's own is meant, so that another
	// fingerprint is no mistake. What the run holds is then held against the graph.
	Corrected bool `json:"corrected,omitempty"`
	// Settled says that what the run holds fits the schemas of the graph. A run that
	// was pinned does not ask them again: what its pin has let through stands.
	Settled bool `json:"settled,omitempty"`
	// Limit is how many bytes a run may carry; zero: [DefaultStateLimit].
	Limit int `json:"limit,omitempty"`
}

// RedrivePlan is what a redrive will do: what "starter redrive --dry-run" prints.
type RedrivePlan struct {
	Graph     string  `json:"graph"`
	RedriveOf string  `json:"redrive_of,omitempty"` // run id; empty when the export does not say
	From      Address `json:"from,omitempty"`
	// Reused is what has committed and is not repeated, Repeated what runs again, and
	// Dropped what the run held and the redrive does not take up.
	Reused   []PlannedStep `json:"reused"`
	Repeated []PlannedStep `json:"repeated"`
	Dropped  []PlannedStep `json:"dropped"`
	// Pauses are those that open again.
	Pauses []Address `json:"pauses"`
	// Children are the child runs that go on, each with a plan of its own.
	Children  []RedriveChild `json:"children"`
	StepsLeft int            `json:"steps_left"`
	Deadline  Duration       `json:"deadline,omitzero"` // budget of running time; zero: none
	// Checked says, for a corrected graph, what was held against it.
	Checked []string `json:"checked,omitempty"`
}

// PlannedStep is one line of a [RedrivePlan].
type PlannedStep struct {
	Node    string  `json:"node,omitempty"`
	Address Address `json:"address,omitempty"` // of the last visit, when there were several
	// Count is how many visits, or of a map how many items, are meant; zero: one.
	Count int    `json:"count,omitempty"`
	Why   string `json:"why,omitempty"` // in words
}

// RedriveChild is a child run that a redrive takes up.
type RedriveChild struct {
	Activation Address     `json:"activation"` // that runs it, in its parent
	WorkflowID string      `json:"workflow_id"`
	Plan       RedrivePlan `json:"plan"`
}
