package graph

// exit is one way out of a node, as people see it.
type exit struct {
	To       string // a node id or End; "" when a callback may lead anywhere
	Label    string // what makes the node leave this way; "" for a plain edge
	Failure  bool   // taken when the node failed or its pause expired
	Callback bool   // chosen by a callback
}

// exits lists the ways out of a node in the order in which they are tried.
func (n *Node) exits() []exit {
	var all []exit
	if n.Next != nil {
		all = append(all, routeExits(n.Next, "", false)...)
	}
	all = append(all, caseExits(n.Cases, n.Default, "", false)...)
	for _, target := range n.Targets {
		all = append(all, exit{To: target, Label: "chosen by " + n.Choose, Callback: true})
	}
	if n.Type == TypeLoop {
		all = append(all, n.loopExits()...)
	}
	for _, branch := range n.Branches {
		all = append(all, exit{To: branch})
	}
	if n.OnError != nil {
		all = append(all, routeExits(&n.OnError.Route, "on error", true)...)
	}
	if n.OnExpire != "" {
		all = append(all, exit{To: n.OnExpire, Label: "expired", Failure: true})
	}
	return all
}

func (n *Node) loopExits() []exit {
	turn := exit{To: n.Body, Label: "while " + n.While}
	if n.WhileCall != "" {
		turn = exit{To: n.Body, Label: "while " + n.WhileCall, Callback: true}
	}
	all := []exit{turn, {To: n.Done, Label: "done"}}
	if n.OnExhausted != n.Done {
		all = append(all, exit{To: n.OnExhausted, Label: "exhausted"})
	}
	return all
}

func routeExits(r *Route, label string, failure bool) []exit {
	switch {
	case r.Call != "":
		return []exit{{Label: "chosen by " + r.Call, Callback: true, Failure: failure}}
	case r.To != "":
		return []exit{{To: r.To, Label: label, Failure: failure}}
	}
	return caseExits(r.Cases, r.Default, label, failure)
}

func caseExits(cases []Case, otherwise, label string, failure bool) []exit {
	var all []exit
	if label != "" {
		label += ": "
	}
	for _, c := range cases {
		all = append(all, exit{To: c.To, Label: label + c.When, Failure: failure})
	}
	if otherwise != "" {
		all = append(all, exit{To: otherwise, Label: label + "default", Failure: failure})
	}
	return all
}
