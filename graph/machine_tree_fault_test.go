package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// treeRuns is how many trees a planted fault has to hide in.
const treeRuns = 2000

// The model sees the difference: with a fault planted in its copy of the rules it
// disagrees with the machine before long. A fault that nobody notices would mean
// that the same fault in the machine goes unnoticed.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{
		"the window of a map has room for one more",
		"as many failures as are tolerated are too many",
		"the delta of an item is applied",
		"the child's whole state as delta",
		"the clock runs while the child is paused",
		"losers are not awaited",
		"a reply is dropped",
		"a second attempt has the addresses of the first",
		"who comes too late counts",
		"an interruption is an attempt",
		"a child outlives its parent's deadline",
		"silence is an answer",
		"a pause gives its place away",
		"who sleeps keeps its permit",
		"who waits for a permit is awaited",
		"who is asked to stop gives its permit back",
		"an interruption keeps its permit",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			faulty, sound := treeDiffers(fault), treeDiffers("")
			for seed := range treeRuns {
				if faulty.Example(seed) {
					require.False(t, sound.Example(seed), "the rules differ without the fault")
					return
				}
			}
			require.Fail(t, "nobody noticed")
		})
	}
}

// treeDiffers makes up runs, and says of each whether machine and model differ.
func treeDiffers(fault string) *rapid.Generator[bool] {
	return rapid.Custom(func(rt *rapid.T) (found bool) {
		defer func() {
			if recover() != nil { // what is open on one side only cannot end on both
				found = true
			}
		}()
		return drawTree(rt, fault).run(40) != ""
	})
}
