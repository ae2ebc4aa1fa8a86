package permits

import "github.com/tidemill/tidemill/admission"

// Facts are what a classification may go by. They come from the pinned graph and
// from the run, never from what a request says of itself.
type Facts struct {
	Graph     string `json:"graph"`
	Node      string `json:"node"` // id
	Type      string `json:"type"` // of the node
	Agent     string `json:"agent"`
	Tool      string `json:"tool"`
	Action    string `json:"action"` // the registered name of what is run; empty for agents and tools
	Trigger   string `json:"trigger"`
	Partition string `json:"partition"` // filled in by the worker's rule; one of the known, or other
	// App, User and Session are the run's lane, WorkflowID its id: what a rule for
	// the partition may go by.
	App        string `json:"app"`
	User       string `json:"user"`
	Session    string `json:"session"`
	WorkflowID string `json:"workflow_id"`
}

// Class is what an attempt needs. Without an agent, a key or a rate it needs no
// permit.
type Class struct {
	Domain   string // Zero means DefaultDomain.
	Agent    string
	Keys     []admission.Units
	Rates    []admission.Units
	Flow     string // Zero means the partition.
	Priority *int   // 0 to 100. Nil means 50.
}

// Free reports whether nothing has to be asked for.
func (c *Class) Free() bool { return c.Agent == "" && len(c.Keys) == 0 && len(c.Rates) == 0 }

// Classifier says what an attempt needs. It is the worker's own code or
// configuration; when it fails or panics nothing is admitted. It must be safe for
// concurrent use.
type Classifier func(Facts) (Class, error)
