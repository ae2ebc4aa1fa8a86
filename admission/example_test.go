package admission_test

import (
	"fmt"
	"time"

	"github.com/tidemill/tidemill/admission"
)

func ExampleBook() {
	book, err := admission.NewBook(admission.Limits{Global: 2, Agents: []admission.KeyLimit{{Key: "planner", Limit: 1}}})
	if err != nil {
		panic(err)
	}
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	for i, agent := range []string{"planner", "planner", "writer"} {
		err := book.Submit(now, admission.Request{
			ID: fmt.Sprint("request-", i+1), Owner: admission.Owner{Process: "example"}, Agent: agent, Overflow: admission.OverflowQueue,
		})
		if err != nil {
			panic(err)
		}
	}
	for _, d := range book.Decide(now).Decisions {
		fmt.Println(d.ID, d.Answer)
	}
	book.Release(now, "request-1", 1)
	for _, d := range book.Decide(now).Decisions {
		fmt.Println(d.ID, d.Answer)
	}
	// Output:
	// request-1 granted
	// request-3 granted
	// request-2 queued
	// request-1 released
	// request-2 granted
}
