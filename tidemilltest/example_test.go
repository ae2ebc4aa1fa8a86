package tidemilltest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/tidemilltest"
)

func ExampleSimulate() {
	app := tidemill.NewApp()
	app.AddGraph("ship.yaml", []byte(`version: 1
id: ship
entry: ask
nodes:
  - {id: ask, type: pause, summary: "Ship it?", next: send}
  - {id: send, run: send, retry: {max_attempts: 3, backoff: 1m}, next: end}
`))
	result, err := tidemilltest.Simulate(context.Background(), tidemilltest.Scenario{
		App: app,
		Fakes: tidemilltest.Fakes{"send": tidemilltest.InTurn(
			tidemilltest.Fails("no_courier", "all are out"),
			tidemilltest.Output("on its way").Lost(), // sent, and the worker was lost before it could say so
			tidemilltest.Output("on its way"),
		)},
		Answers: []tidemilltest.Answer{{Pause: "ask", Input: true, After: 26 * time.Hour}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, string(result.Output), result.Duration)
	for _, call := range result.Calls {
		fmt.Println(call.Name, call.Attempt, call.Key)
	}
	// Output:
	// completed "on its way" 26h1m0s
	// send 1 run/send#1
	// send 2 run/send#1
	// send 2 run/send#1
}
