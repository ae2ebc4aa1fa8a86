package admission

// unit is what one unit of cost moves the tag of a flow of weight 1.
const unit = 1 << 20

// flow is one fairness key. Its tag is the virtual time at which its next
// grant would start; V, in the book, is the start of the latest grant.
type flow struct {
	name   string
	weight int
	tag    int64
	queued int // requests with a place in the queue
	lanes  int
	nth    int // in Book.flows

	claimed    int64 // when its last claim was granted; 0: never, or long ago
	candidates heap[*candidate]
	hoping     int // in Book.hopeful
}

// charge moves the tag on for a grant of some cost, and gives its start.
func (f *flow) charge(v, cost int64) int64 {
	start := max(f.tag, v)
	f.tag = start + unit*cost/int64(f.weight)
	return start
}
