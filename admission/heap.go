package admission

// ordered is an element of a heap: it knows what goes before what, and keeps
// its own place, so that it can be taken out of the middle.
type ordered[T any] interface {
	comparable
	less(other T) bool
	place() *int // index in the heap; -1 while it is in none
}

// heap is a binary heap of elements that know their place in it. An element is
// in at most one heap of its kind.
type heap[T ordered[T]] []T

func (h *heap[T]) push(v T) {
	*h = append(*h, v)
	*v.place() = len(*h) - 1
	h.up(len(*h) - 1)
}

// remove takes out an element that is in the heap. Its own order is not looked
// at, so it may have changed.
func (h *heap[T]) remove(v T) {
	var none T
	i, last := *v.place(), len(*h)-1
	(*h)[i] = (*h)[last]
	*(*h)[i].place() = i
	(*h)[last] = none
	*h = (*h)[:last]
	*v.place() = -1
	if i < last {
		h.fix(i)
	}
}

// fix restores the order after the element at i has changed.
func (h *heap[T]) fix(i int) {
	if !h.up(i) {
		h.down(i)
	}
}

func (h *heap[T]) up(i int) bool {
	s, start := *h, i
	for i > 0 {
		parent := (i - 1) / 2
		if !s[i].less(s[parent]) {
			break
		}
		s.swap(i, parent)
		i = parent
	}
	return i != start
}

func (h *heap[T]) down(i int) {
	s := *h
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s); child++ {
			if s[child].less(s[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		s.swap(i, least)
		i = least
	}
}

func (h heap[T]) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].place() = i
	*h[j].place() = j
}
