package graph

// Redrive makes of a run that has closed the run that takes it up: an export that
// [Restore] starts (its checkpoint holds the children that go on), and what that
// means. The export may be of a run that failed, timed out, was cancelled, was
// terminated while it was open, or of one that [Rewind] put back.
//
// What has committed is not repeated. Activations that failed or were stopped run
// again under their own addresses, so with their own idempotency keys, and with
// fresh attempts. The plan is also given with a failure, as far as it got.
//
// Failures: checkpoint_complete (of a completed run, without From),
// checkpoint_definition_mismatch, checkpoint_workflow_mismatch, invalid_checkpoint,
// budget_exhausted (no steps are left and none are given), state_too_large (the run
// with its children is too large to carry), invalid_run_options (From names nothing
// that can be repeated here, or a budget is out of range).
func Redrive(p *Plan, e Export, how Redriving) (Export, RedrivePlan, *Failure) {
	return Export{}, RedrivePlan{}, Failf(ErrTypeInvalidCheckpoint, "not yet")
}

// Repeats reports whether a redrive of a checkpoint can begin at an address of its
// run (not of a child): at an activation that has not committed, or that is about to
// take the step of that address, and at a branch or an item whose fork or map is
// still under way, committed or not.
//
// To begin at what the last checkpoint has left behind, replay the run and keep the
// last checkpoint for which this holds: it is the second argument of [Rewind].
func (cp *Checkpoint) Repeats(from Address) bool { return false }

// Rewind makes one checkpoint of two of a run: it stands where before stood, and
// goes on counting where last has got to. Visits of nodes, acquisitions, requests and
// the ledger of answers are those of last, so that no address, no permit and no
// answer is used twice; steps that were taken stay taken. For [Redrive].
func Rewind(last, before Checkpoint) (Checkpoint, *Failure) {
	return Checkpoint{}, Failf(ErrTypeInvalidCheckpoint, "not yet")
}

// ParseExport reads an export, or a bare checkpoint as the query checkpoint gives it,
// strictly enough that [Redrive] can trust its shape. The failure's type is
// [ErrTypeInvalidCheckpoint].
func ParseExport(raw []byte) (Export, *Failure) {
	return Export{}, Failf(ErrTypeInvalidCheckpoint, "not yet")
}
