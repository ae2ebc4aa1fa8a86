package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/crew"
	"github.com/tidemill/tidemill/internal/devserver"
)

const queue = "soak"

// field is where a soak takes place: a server with a database in a file, a ledger, and
// worker processes.
type field struct {
	settings
	database string
	server   *devserver.Server
	ledger   *ledger
	client   client.Client
	runs     *tidemill.Client
	crew     []*crew.Member
	dice     *rand.Rand
	losses   []loss
	kills    int
	restarts int
}

// soak has some runs go their way undisturbed, then many under fire, and holds what
// came of these against the first.
func soak(ctx context.Context, s settings) (*result, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	folder, err := os.MkdirTemp("", "tidemill-soak-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	f := &field{settings: s, database: filepath.Join(folder, "server.db"), dice: rand.New(rand.NewPCG(s.seed, 1))} //nolint:gosec // no secret
	defer f.close()
	if err := f.set(ctx); err != nil {
		return nil, err
	}
	calm, err := f.calm(ctx)
	if err != nil {
		return nil, errors.Join(err, f.words())
	}
	began := time.Now()
	fired, err := f.fire(ctx)
	if err != nil {
		return nil, errors.Join(err, f.words())
	}
	r := &result{seed: s.seed, took: time.Since(began), kills: f.kills, restarts: f.restarts, ended: map[string]int{}}
	return r, f.conclude(ctx, r, calm, fired)
}

// set starts what a soak needs, and one worker.
func (f *field) set(ctx context.Context) error {
	var err error
	if f.server, err = devserver.Start(ctx, devserver.Options{Database: f.database}); err != nil {
		return err
	}
	if f.ledger, err = open(); err != nil {
		return err
	}
	if f.client, err = client.DialContext(ctx, client.Options{HostPort: f.server.Address(), Logger: quiet{}}); err != nil {
		return err
	}
	f.runs = tidemill.NewClient(f.client, tidemill.ClientOptions{TaskQueue: queue})
	return f.enlist()
}

func (f *field) close() {
	for _, member := range f.crew {
		member.Kill()
	}
	if f.client != nil {
		f.client.Close()
	}
	if f.ledger != nil {
		f.ledger.close()
	}
	if f.server != nil {
		_ = f.server.Stop()
	}
}

// words are what the worker processes printed, which are killed for it; nil when they
// had nothing to say.
func (f *field) words() error {
	var all []error
	for _, member := range f.crew {
		member.Kill()
		if text := member.Output(); text != "" {
			all = append(all, fmt.Errorf("a worker printed: %s", text))
		}
	}
	return errors.Join(all...)
}

// enlist starts a worker process.
func (f *field) enlist() error {
	setup, err := json.Marshal(post{Server: f.server.Address(), Queue: queue, Ledger: f.ledger.url, Work: f.work})
	if err != nil {
		return err
	}
	member, err := crew.Launch(workerVariable, string(setup))
	if err != nil {
		return err
	}
	f.crew = append(f.crew, member)
	return nil
}

// start starts a run of a graph with one of its inputs.
func (f *field) start(ctx context.Context, k kind, input int, id string) (*trial, error) {
	t := &trial{id: id, kind: k, input: input}
	err := f.insist(ctx, func() error {
		_, err := f.runs.Start(ctx, tidemill.StartOptions{Graph: k.id, ID: id, Input: json.RawMessage(k.inputs[input])})
		var exists *tidemill.AlreadyExistsError
		if errors.As(err, &exists) { // an earlier call got through
			return nil
		}
		return err
	})
	return t, err
}

// insist does something until it succeeds: a server that is lost comes back.
func (f *field) insist(ctx context.Context, do func() error) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// calm runs every graph with every input while nothing is lost.
func (f *field) calm(ctx context.Context) ([]*trial, error) {
	var trials []*trial
	for _, k := range kinds() {
		for input := range k.inputs {
			t, err := f.start(ctx, k, input, fmt.Sprintf("calm-%s-%d", k.id, input))
			if err != nil {
				return nil, err
			}
			trials = append(trials, t)
		}
	}
	return trials, f.follow(ctx, trials, func(int) error { return nil })
}

// fire starts the runs, of all graphs in turn, and loses workers, and the server once,
// from the first start until all have ended.
func (f *field) fire(ctx context.Context) ([]*trial, error) {
	for len(f.crew) < f.workers {
		if err := f.enlist(); err != nil {
			return nil, err
		}
	}
	next := time.Now().Add(f.killEvery)
	harm := func(ended int) error {
		if f.restart && f.restarts == 0 && 2*ended >= f.settings.runs {
			return f.reboot(ctx)
		}
		if time.Now().Before(next) || f.settings.kills > 0 && f.kills >= f.settings.kills {
			return nil
		}
		next = time.Now().Add(f.killEvery)
		return f.lose()
	}
	var trials []*trial
	all := kinds()
	for i := range f.settings.runs {
		k := all[i%len(all)]
		t, err := f.start(ctx, k, i/len(all)%len(k.inputs), fmt.Sprintf("fire-%s-%d", k.id, i))
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
		if err := harm(0); err != nil {
			return nil, err
		}
	}
	return trials, f.follow(ctx, trials, harm)
}

// lose kills a worker and starts another one.
func (f *field) lose() error {
	victim := f.dice.IntN(len(f.crew))
	member := f.crew[victim]
	l := loss{pid: member.PID(), at: time.Now()}
	member.Kill()
	l.over = time.Now()
	f.losses = append(f.losses, l)
	f.crew = append(f.crew[:victim], f.crew[victim+1:]...)
	f.kills++
	return f.enlist()
}

// reboot kills the server and starts it again with what it had written.
func (f *field) reboot(ctx context.Context) error {
	l := loss{at: time.Now()}
	port, err := portOf(f.server.Address())
	if err != nil {
		return err
	}
	if err := f.server.Kill(); err != nil {
		return err
	}
	if f.server, err = devserver.Start(ctx, devserver.Options{Database: f.database, Port: port}); err != nil {
		return err
	}
	l.over = time.Now()
	f.losses = append(f.losses, l)
	f.restarts++
	return nil
}
