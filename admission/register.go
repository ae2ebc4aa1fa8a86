package admission

import (
	"cmp"
	"slices"
)

// mate is an entry among those of its owner.
type mate struct{ *entry }

func (m mate) slot() *int { return &m.among }

// enroll makes the book know an entry.
func (b *Book) enroll(e *entry) {
	b.entries[e.id] = e
	b.all.add(e)
	mates := b.owners[e.owner]
	if mates == nil {
		mates = &bag[mate]{}
		b.owners[e.owner] = mates
	}
	mates.add(mate{e})
}

// strike undoes enroll.
func (b *Book) strike(e *entry) {
	delete(b.entries, e.id)
	b.all.remove(e)
	mates := b.owners[e.owner]
	if mates.remove(mate{e}); len(*mates) == 0 {
		delete(b.owners, e.owner)
	}
}

// inOrder lists all entries by their submit.
func (b *Book) inOrder() []*entry { return bySeq(slices.Clone(b.all)) }

// of lists the entries of an owner by their submit.
func (b *Book) of(o Owner) []*entry {
	mates := b.owners[o]
	if mates == nil {
		return nil
	}
	list := make([]*entry, 0, len(*mates))
	for _, m := range *mates {
		list = append(list, m.entry)
	}
	return bySeq(list)
}

func bySeq(list []*entry) []*entry {
	slices.SortFunc(list, func(x, y *entry) int { return cmp.Compare(x.seq, y.seq) })
	return list
}
