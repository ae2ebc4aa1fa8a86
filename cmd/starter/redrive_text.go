package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/tidemill/tidemill/graph"
)

// writePlan is what a redrive does, for people: a table of what is reused, repeated
// and dropped, and the budgets.
func writePlan(out io.Writer, plan *graph.RedrivePlan) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) {
		for i, cell := range cells {
			end := "\t"
			if i == len(cells)-1 {
				end = "\n"
			}
			_, _ = fmt.Fprint(w, printable(cell)+end)
		}
	}
	if plan.RedriveOf != "" {
		line("redrive of", plan.RedriveOf)
	}
	if plan.From != "" {
		line("from", string(plan.From))
	}
	writeSteps(line, plan)
	for _, checked := range plan.Checked {
		line("checked", checked)
	}
	line("steps left", strconv.Itoa(plan.StepsLeft))
	deadline := "none"
	if plan.Deadline > 0 {
		deadline = plan.Deadline.String()
	}
	line("deadline", deadline)
	_ = w.Flush()
}

// writeSteps shows the steps of a plan and, below those, of its children.
func writeSteps(line func(...string), plan *graph.RedrivePlan) {
	for _, part := range []struct {
		name  string
		steps []graph.PlannedStep
	}{{"reused", plan.Reused}, {"repeated", plan.Repeated}, {"dropped", plan.Dropped}} {
		for _, step := range part.steps {
			line(part.name, stepName(step), step.Why)
		}
	}
	for _, pause := range plan.Pauses {
		line("asks again", string(pause), "its pause is open again")
	}
	for _, child := range plan.Children {
		line("goes on", string(child.Activation), "the child "+child.WorkflowID)
		writeSteps(line, &child.Plan)
	}
}

// stepName is the address of a step, and how many visits or items are meant.
func stepName(step graph.PlannedStep) string {
	name := string(step.Address)
	if name == "" {
		name = step.Node
	}
	switch {
	case name == "":
		return strconv.Itoa(step.Count)
	case step.Count > 1:
		return fmt.Sprintf("%s ×%d", name, step.Count)
	default:
		return name
	}
}
