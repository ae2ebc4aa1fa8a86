package graph

import (
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph/source"
)

func (d *decoder) pause(f field, node *Node) {
	node.Reason = defaultPauseReason
	if reason, ok := f.member("reason"); ok {
		node.Reason, _ = d.text(reason, codeExpectedNonempty, "reason")
	}
	if summary, ok := f.member("summary"); ok {
		d.text(summary, codeExpectedText, "summary")
		node.Summary = summary.raw()
	}
	if show, ok := f.member("show"); ok {
		node.Show = show.raw()
		if size := len(node.Show); size > MaxShow && !strings.Contains(string(node.Show), "${") {
			d.fail(show.at, codeShowTooLarge, "show a shorter excerpt, or a link", "show has %d bytes, more than %d", size, MaxShow)
		}
	}
	node.ResumeSchema = d.schema(f, "resume_schema")
	d.expiry(f, node)
}

func (d *decoder) expiry(f field, node *Node) {
	expires, timed := f.member("expires")
	if timed {
		node.Expires = d.duration(expires, span{code: codeInvalidExpires, what: "expires", none: true})
		d.floor(expires, node.Expires, "expires")
		if node.Expires == None {
			node.Expires, timed = 0, false
		}
	}
	way, led := f.member("on_expire")
	switch {
	case led && !timed:
		d.fail(way.at, codeInvalidExpires, "add expires, or remove on_expire", "a pause that never expires does not leave by on_expire")
	case led:
		node.OnExpire = d.target(way, "on_expire")
	case timed && !recovers(f):
		fix, what := "add on_expire: NODE", "run"
		if node.IsItem() {
			fix, what = "add on_error: {output: VALUE}", "item"
		}
		d.warn(expires.at, codeNoOnExpire, fix, "when the pause expires the %s fails with %s", what, ErrTypePauseExpired)
	}
}

// recovers reports whether a node says what becomes of its failure.
func recovers(node field) bool {
	_, ok := node.member("on_error")
	return ok
}

func (d *decoder) wait(f field, node *Node) {
	length, isFor := f.member("for")
	until, isUntil := f.member("until")
	switch {
	case isFor && isUntil:
		d.failKey(until.at, codeConflictingFields, "keep one of them", "for and until are both given")
	case isFor:
		node.For = d.duration(length, span{code: codeInvalidWait, what: "for"})
		d.floor(length, node.For, "for")
	case isUntil:
		d.until(until, node)
	default:
		d.fail(f.at, codeInvalidWait, "add for: LENGTH or until: TIME", "a wait must say how long")
	}
}

// until reads a time. One without an expression must be a time already.
func (d *decoder) until(f field, node *Node) {
	text, ok := d.text(f, codeInvalidWait, "until")
	node.Until = f.raw()
	if !ok || d.expression(f) {
		return
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		d.fail(f.at, codeInvalidWait, `write a time such as "2030-01-31T09:00:00Z"`, "%q is not a time in RFC 3339 form", text)
	}
}

// branch reads a decision: cases, or a callback and the targets it may choose.
func (d *decoder) branch(f field, node *Node) {
	cases, hasCases := f.member("cases")
	choose, hasChoose := f.member("choose")
	targets, hasTargets := f.member("targets")
	other, hasDefault := f.member("default")
	switch {
	case hasCases && hasChoose:
		d.failKey(choose.at, codeConflictingFields, "keep one of them", "cases and choose are both given")
		return
	case !hasCases && !hasChoose:
		d.fail(f.at.key("choose"), codeInvalidRoute, "add cases: [{when, to}], or choose: {call: NAME} and targets",
			"the %s has no cases and no choose", node.Type)
		return
	case hasCases:
		node.Cases = d.cases(cases)
		if hasTargets {
			d.failKey(targets.at, codeConflictingFields, "remove targets; the cases name theirs", "targets belong to choose")
		}
		if hasDefault {
			node.Default = d.target(other, "default")
		}
		return
	}
	node.Choose = d.call(choose, codeInvalidRoute, "choose")
	if hasDefault {
		d.failKey(other.at, codeConflictingFields, "remove default; the callback names a target", "default belongs to cases")
	}
	if !hasTargets {
		d.fail(f.at.key("targets"), codeExpectedList, "add targets: [NODE, …]", "choose needs the targets it may choose among")
		return
	}
	node.Targets = d.targets(targets)
}

func (d *decoder) targets(f field) []string {
	var targets []string
	seen := map[string]bool{}
	for _, item := range d.items(f, "targets") {
		target := d.target(item, "a target")
		if seen[target] && target != "" {
			d.fail(item.at, codeDuplicateTarget, "remove one of the two", "the target %s is listed before", target)
		}
		seen[target] = true
		targets = append(targets, target)
	}
	return targets
}

func (d *decoder) loop(f field, node *Node) {
	d.while(f, node)
	if body, ok := f.member("body"); ok {
		node.Body = d.target(body, "body")
		if node.Body == End {
			d.fail(body.at, codeInvalidTarget, "name the first node of a turn", "the body of a loop cannot be the end")
		}
	} else {
		d.fail(f.at.key("body"), codeInvalidTarget, "add body: NODE", "the loop has no body")
	}
	node.Done = End
	if done, ok := f.member("done"); ok {
		node.Done = d.target(done, "done")
	}
	node.OnExhausted = node.Done
	if way, ok := f.member("on_exhausted"); ok {
		node.OnExhausted = d.target(way, "on_exhausted")
	}
	if turns, ok := f.member("max_iterations"); ok {
		node.MaxIterations, _ = d.integer(turns, 0, codeExpectedNonNegative, "max_iterations")
	} else {
		d.fail(f.at.key("max_iterations"), codeExpectedNonNegative, "add max_iterations: N", "the loop has no bound")
	}
}

func (d *decoder) while(f field, node *Node) {
	while, ok := f.member("while")
	switch {
	case !ok:
		d.fail(f.at.key("while"), codeInvalidPredicate, "add while: CONDITION", "the loop has no condition")
	case while.isText() && while.node.Text != "":
		node.While = strings.TrimSpace(while.node.Text)
	case while.kind() == source.Bool:
		d.fail(while.at, codeInvalidPredicate, quoteHint(while), "while must be a condition in text")
	default:
		node.WhileCall = d.call(while, codeInvalidPredicate, "while")
	}
}
