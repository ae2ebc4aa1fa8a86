package graph_test

import (
	"slices"
	"strconv"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// treeForward is an answer that a child has and that was not replied to yet.
type treeForward struct {
	request, upstream string
	to                *treeVisit
}

// treeReply is what became of an answer; no kind: it was taken.
type treeReply struct{ request, kind string }

// treeAnswer is what somebody says to a pause.
type treeAnswer struct {
	id, request    string
	input          any
	absent, digest bool // digest: of something else
}

// answer gives the run an answer; the kind of the refusal, if it is refused at
// once.
func (r *treeRun) answer(a treeAnswer) string {
	p, kind := r.addressed(a.id)
	switch {
	case kind != "":
		return kind
	case a.absent:
		return graph.ErrTypeResumeInputRequired
	case a.digest:
		return graph.ErrTypePauseDigestMismatch
	}
	for _, v := range r.all() {
		if slices.ContainsFunc(v.known.pauses, func(known treePause) bool { return known.id == p.id }) {
			r.forward(v, p, a)
			return ""
		}
	}
	v := r.visitOf(p.id)
	if _, object := a.input.(map[string]any); p.schema && !object {
		r.verdict(a.request, graph.ErrTypeInvalidResumeInput)
		return ""
	}
	r.verdict(a.request, "")
	r.accept(v, a.input)
	return ""
}

// addressed is the open pause that an answer names.
func (r *treeRun) addressed(id string) (treePause, string) {
	open := r.pauses()
	if id == "" {
		switch len(open) {
		case 0:
			return treePause{}, graph.ErrTypeUnknownPause
		case 1:
			return open[0], ""
		default:
			return treePause{}, graph.ErrTypePauseAmbiguous
		}
	}
	var alike []treePause
	for _, p := range open {
		if p.id == id {
			return p, ""
		}
		if p.alias == id {
			alike = append(alike, p)
		}
	}
	switch {
	case len(alike) == 1:
		return alike[0], ""
	case len(alike) > 1:
		return treePause{}, graph.ErrTypePauseAmbiguous
	case r.wasOpen[id]:
		return treePause{}, graph.ErrTypePauseClosed
	default:
		return treePause{}, graph.ErrTypeUnknownPause
	}
}

// accept closes a pause with its answer.
func (r *treeRun) accept(v *treeVisit, input any) {
	v.due = time.Time{}
	if v.node.kind == "pause" {
		r.finish(v, graph.ControlOK, input, nil, input)
		return
	}
	r.commit(v, treeResult{control: graph.ControlOK, output: input, delta: v.keeps})
}

// verdict tells who asked what became of the answer: a parent, or somebody here.
func (r *treeRun) verdict(request, kind string) {
	if _, err := strconv.Atoi(request); err == nil && r.isKid {
		if !r.faulty("a reply is dropped") || kind == "" {
			r.replies = append(r.replies, treeReply{request, kind})
		}
		return
	}
	if request != "" {
		r.verdicts[request] = kind
	}
}

// forward hands an answer to the child that has the pause.
func (r *treeRun) forward(v *treeVisit, p treePause, a treeAnswer) {
	r.requests++
	f := treeForward{strconv.Itoa(r.requests), a.request, v}
	r.forwards = append(r.forwards, f)
	child := v.child
	kind := child.answer(treeAnswer{id: p.id, request: f.request, input: a.input})
	if kind != "" {
		child.verdict(f.request, kind)
	}
	if child.outcome == nil {
		child.settle()
	}
}

// told is a report of a visit's child: how it stands now, and its replies.
func (r *treeRun) told(v *treeVisit) {
	child := v.child
	for _, reply := range child.replies {
		r.replied(reply)
	}
	child.replies = nil
	if v.phase != "running" {
		return
	}
	v.known = treeKnown{paused: child.paused(), pauses: child.pauses()}
	for _, p := range v.known.pauses {
		r.wasOpen[p.id] = true
	}
}

func (r *treeRun) replied(reply treeReply) {
	i := slices.IndexFunc(r.forwards, func(f treeForward) bool { return f.request == reply.request })
	if i >= 0 {
		f := r.forwards[i]
		r.forwards = slices.Delete(r.forwards, i, i+1)
		r.verdict(f.upstream, reply.kind)
	}
}

// forget ends what is known of a child that has ended or was asked to: what was
// handed to it will not be taken.
func (r *treeRun) forget(v *treeVisit) {
	v.known = treeKnown{}
	for _, f := range slices.Clone(r.forwards) {
		if f.to == v {
			r.replied(treeReply{f.request, graph.ErrTypePauseClosed})
		}
	}
}
