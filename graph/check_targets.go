package graph

import "strconv"

// targets checks that every target of every node exists.
func (c *checker) targets() {
	for i := range c.document.Nodes {
		node, from := c.node(i)
		if from.skipped {
			continue
		}
		c.cases(from, "cases", node.Cases, codeUnknownTarget)
		for j, target := range node.Targets {
			c.target(from.at.key("targets").item(j), target, codeUnknownTarget)
		}
		c.target(from.at.key("default"), node.Default, codeUnknownTarget)
		c.target(from.at.key("body"), node.Body, codeUnknownTarget)
		c.target(from.at.key("done"), node.Done, codeUnknownTarget)
		if node.OnExhausted != node.Done {
			c.target(from.at.key("on_exhausted"), node.OnExhausted, codeUnknownTarget)
		}
		c.target(from.at.key("on_expire"), node.OnExpire, codeUnknownTarget)
		if node.OnError != nil {
			c.route(from, "on_error", &node.OnError.Route, codeUnknownTarget)
		}
		if node.Next != nil {
			c.route(from, "next", node.Next, codeUnknownEdge)
		}
		c.defaults(node, from)
	}
}

func (c *checker) route(from *origin, path string, route *Route, code string) {
	c.target(from.place(path), route.To, code)
	c.cases(from, path+"/cases", route.Cases, code)
	c.target(from.place(path+"/default"), route.Default, code)
}

func (c *checker) cases(from *origin, path string, cases []Case, code string) {
	for i, one := range cases {
		c.target(from.place(path+"/"+strconv.Itoa(i)+"/to"), one.To, code)
	}
}

// target reports a target that is no node. An empty one was reported before.
func (c *checker) target(at pointer, target, code string) {
	if target == "" || target == End {
		return
	}
	if _, known := c.index[target]; !known {
		c.fail(at, code, c.nearest(target), "%q is not a node", target)
	}
}

// defaults warns where a decision may find no way.
func (c *checker) defaults(node *Node, from *origin) {
	if len(node.Cases) > 0 && node.Default == "" {
		c.warn(from.at.key("cases"), codeNoDefault, "add default: NODE", "when no case holds the run fails with %s", ErrTypeRouteFailed)
	}
	if node.Next != nil && len(node.Next.Cases) > 0 && node.Next.Default == "" {
		c.warn(from.place("next"), codeNoDefault, "add default: NODE", "when no case holds the run fails with %s", ErrTypeRouteFailed)
	}
}
