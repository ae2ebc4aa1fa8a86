package workflows

import (
	"fmt"

	"github.com/tidemill/tidemill/activities"
)

// oldestCore is the oldest version of the interpreter's rules that this code still
// follows; [activities.Core] is the newest. It is raised when no run of an older one
// can be open any more.
const oldestCore = 1

// core reports whether the run follows a version of the interpreter's rules, or a later
// one. Where versions decide differently this is what decides between them:
//
//	if r.core(2) {
//		… as runs do that were begun by a release with version 2 or later
//	} else {
//		… as runs do that are older, and stay so
//	}
//
// A run asks the version it is bound to, never that of its worker: the worker may be
// another one at the next task. Only what open runs must have as well, a mended fault,
// is worth a [workflow.GetVersion].
func (r *run) core(version int) bool { return r.pin.Core >= version }

// mustFollow blocks a run whose rules this code does not know. Carried on by other
// rules it would decide otherwise than it did, or do twice what it has done. It stays
// open, and a worker that knows them takes it from where it is.
func (r *run) mustFollow() {
	if !r.core(oldestCore) || r.core(activities.Core+1) {
		blocked("the run cannot be carried on", fmt.Errorf(
			"it follows version %d of the interpreter's rules, and this worker knows versions %d to %d: start workers of the release that began it, or of a later one",
			r.pin.Core, oldestCore, activities.Core))
	}
}
