// Package graph holds everything that decides about a graph of work: the
// document and its compiler, the machine that runs it, its checkpoints and its
// pictures. It acts on nothing.
//
// A document, YAML or JSON, is compiled into a normal form with every default
// filled in ([Document]), and refused with all its faults at once
// ([Diagnostics]). The same graph has the same fingerprint however it was
// written.
//
//	compiled, found := graph.Compile("order.yaml", data, graph.CompileOptions{})
//	if found.HasErrors() {
//		return found
//	}
//	input, failure := graph.CheckInput(compiled.Document, raw)
//
// A [Machine] runs a compiled document as a value. It is told what happened and
// says what should happen next; whoever drives it does that, be it a workflow,
// a test or a fuzzer:
//
//	machine, err := graph.New(compiled.Plan, graph.Start{Input: input, Now: now})
//	evaluator, err := graph.NewEvaluator(compiled.Document, callbacks)
//	machine.Advance(now, evaluator)
//	for _, effect := range machine.Effects() {
//		…
//	}
//
// # What is decided where
//
// The machine itself evaluates nothing. What it cannot know (the value of an
// expression, the answer of a callback, whether a value fits a schema) it asks
// of a [Decider]. An [Evaluator] knows the answers; a [Recorder] keeps them; a
// [Recorded] gives them again, so a machine that is driven twice in the same
// order with the same answers ends in the same checkpoint. A [Program] answers
// for one node where its action runs, so that secrets stay there.
//
// # Errors
//
// Compiling gives [Diagnostics], whose codes are stable and listed by [Codes].
// Running gives a [Failure], whose types are the constants beside it.
package graph
