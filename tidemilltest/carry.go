package tidemilltest

import (
	"encoding/json"
	"slices"

	"github.com/tidemill/tidemill/graph"
)

// carry restores the machines of a run and its children from their checkpoints, where a
// run could be taken over: while it is not ending and has no open child. What a machine
// wants again goes on.
func (u *unit) carry() {
	for _, k := range u.kids {
		if k.refused == nil {
			k.carry()
		}
	}
	if u.w.scenario.Carry {
		u.restore()
	}
}

func (u *unit) restore() {
	cp := u.m.Checkpoint()
	if cp.Stopping != nil || cp.Outcome != nil || len(u.kids) > 0 || slices.ContainsFunc(cp.Activations, stopping) {
		return
	}
	before, err := json.Marshal(cp)
	if err != nil {
		u.w.broken("the checkpoint has no JSON form: %v", err)
		return
	}
	again, failure := graph.ParseCheckpoint(before)
	if failure != nil {
		u.w.broken("its checkpoint is refused: %v", failure)
		return
	}
	start := u.start
	start.Now = u.w.now
	restored, failure := graph.Restore(u.plan, again, start)
	if failure != nil {
		u.w.broken("the run cannot be restored: %v", failure)
		return
	}
	after, err := json.Marshal(restored.Checkpoint())
	if err != nil || string(before) != string(after) {
		u.w.broken("the checkpoint changes when it is restored:\n%s\n%s", before, after)
	}
	u.m = restored
	u.watch()
	u.perform(slices.DeleteFunc(restored.Effects(), u.knows))
}

// stopping recognises a loser that is awaited: it went with the run that asked it to
// stop, so a restored machine does not wait for it.
func stopping(a graph.Activation) bool { return a.Phase == graph.PhaseCancelling }

// knows reports whether an effect of a restored machine is under way.
func (u *unit) knows(effect graph.Effect) bool {
	switch e := effect.(type) {
	case graph.RunNode:
		return u.open(e.Task.Run.Address)
	case graph.SetTimer:
		return slices.ContainsFunc(u.timers, func(t graph.SetTimer) bool { return t.Address == e.Address && t.At.Equal(e.At) })
	case graph.Acquire:
		return u.permits.knows(e)
	default:
		return false
	}
}
