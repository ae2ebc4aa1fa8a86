package graph

import (
	"time"

	"github.com/tidemill/tidemill/graph/source"
)

// maxLocalTimeout bounds an action that runs inside a workflow task: nothing
// else of its run happens meanwhile.
const maxLocalTimeout = Duration(time.Second)

// mode reads how an action is run. An action that runs inside a workflow task
// is repeated with the task, so its author must have said that this is harmless.
func (d *decoder) mode(f field, node *Node) {
	idempotent := d.idempotent(f)
	mode, ok := f.member("mode")
	if !ok {
		return
	}
	if !mode.isText() || mode.node.Text != string(ModeLocal) {
		d.fail(mode.at, codeInvalidMode, "write mode: local, or leave the field out to run an activity", "there is no such mode")
		return
	}
	node.Mode = ModeLocal
	if node.Foreign() {
		d.fail(mode.at, codeInvalidMode, "remove mode, or register the function as an action of the worker",
			"an activity that is not an action cannot run inside the workflow task")
	}
	if !idempotent {
		d.fail(mode.at, codeInvalidMode, "add idempotent: true if running the action again is harmless, else remove mode",
			"a local action runs again whenever its workflow task does")
	}
	const fix = "write timeout: 1s or less, or remove mode"
	switch timeout, ok := f.member("timeout"); {
	case !ok:
		d.fail(mode.at, codeInvalidMode, fix, "a local action needs a timeout of at most %s, and the default is %s", maxLocalTimeout, defaultTimeout)
	case node.Timeout == None || node.Timeout > maxLocalTimeout:
		d.fail(timeout.at, codeInvalidMode, fix, "a local action may take at most %s, and the timeout is %s", maxLocalTimeout, node.Timeout)
	}
}

// idempotent reads what the author declares about running the action again.
func (d *decoder) idempotent(node field) bool {
	f, ok := node.member("idempotent")
	if !ok {
		return false
	}
	if f.kind() != source.Bool {
		d.fail(f.at, codeInvalidMode, "write idempotent: true or idempotent: false", "idempotent must be true or false, and this is %s", kindWord(f.kind()))
	}
	return f.kind() == source.Bool && f.node.Bool
}
