package expr

// Reads says which keys of the state an expression reads.
type Reads struct {
	Keys []string // sorted, without repetitions; nil when All
	All  bool     // the state as a whole, or keys known only at run time
}

// MergeReads gives what a and b read together.
func MergeReads(a, b Reads) Reads {
	if a.All || b.All {
		return Reads{All: true}
	}
	keys := append(append([]string(nil), a.Keys...), b.Keys...)
	return Reads{Keys: sortedSet(keys)}
}
