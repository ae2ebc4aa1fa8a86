package main

import (
	"context"
	"maps"
	"path"
	"slices"
	"sync"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// tally counts the calls of this process to the server.
type tally struct {
	mu     sync.Mutex
	counts counts
}

// options make a client count its calls.
func (t *tally) options() client.ConnectionOptions {
	count := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		t.mu.Lock()
		if t.counts == nil {
			t.counts = counts{}
		}
		t.counts[path.Base(method)]++
		t.mu.Unlock()
		return call(ctx, method, req, reply, conn, opts...)
	}
	return client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(count)}}
}

// now is the calls up to now.
func (t *tally) now() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// counts are numbers of calls, or of events, by their names.
type counts map[string]int

func (c counts) add(more counts) {
	for name, n := range more {
		c[name] += n
	}
}

// since is what was added since before.
func (c counts) since(before counts) counts {
	d := counts{}
	for name, n := range c {
		d[name] = n - before[name]
	}
	return d
}

// each is the number of all to a run.
func (c counts) each(runs int) float64 {
	sum := 0
	for _, n := range c {
		sum += n
	}
	return float64(sum) / float64(runs)
}

// print lists them by name.
func (c counts) print(label string, runs int) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if c[name] > 0 {
			say("    %-10s %-36s %6.2f a run\n", label, name, float64(c[name])/float64(runs))
		}
	}
}
