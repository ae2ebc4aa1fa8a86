package main

import (
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"
)

// entry is one execution of an action, as the action itself tells.
type entry struct {
	Workflow string // id
	Address  string
	Key      string
	Attempt  int
	Local    bool
	PID      int
	Begun    time.Time // by the clock of the ledger, which is that of the server
}

// ledger is where every execution is written down, before it does anything. It is kept
// in the one process that is never killed, and nothing is taken out of it.
type ledger struct {
	server *http.Server
	url    string

	mu      sync.Mutex
	entries []entry
}

// open starts a ledger on a port of its own.
func open() (*ledger, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &ledger{url: "http://" + listener.Addr().String()}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = l.server.Serve(listener) }()
	return l, nil
}

func (l *ledger) close() { _ = l.server.Close() }

// ServeHTTP takes an entry.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var e entry
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	e.Begun = time.Now()
	l.entries = append(l.entries, e)
	l.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (l *ledger) all() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]entry(nil), l.entries...)
}
