package graph

import "slices"

// overflows are the choices of what becomes of a node when no permit is free.
func overflows() []Overflow { return []Overflow{OverflowQueue, OverflowReject} }

// admission reads how a node waits for a permit.
func (d *decoder) admission(f field, node *Node) {
	if overflow, ok := f.member("overflow"); ok {
		node.Overflow = d.overflow(overflow)
	}
	if timeout, ok := f.member("queue_timeout"); ok {
		node.QueueTimeout = d.duration(timeout, span{code: codeQueueTimeout, what: "queue_timeout", none: true})
		d.floor(timeout, node.QueueTimeout, "queue_timeout")
	}
}

func (d *decoder) overflow(f field) Overflow {
	if choice := Overflow(f.node.Text); f.isText() && slices.Contains(overflows(), choice) {
		return choice
	}
	d.fail(f.at, codeInvalidOverflow, "write queue to wait for a permit, or reject to fail without one", "there is no such overflow")
	return ""
}
