package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// DefaultAddress is where the service listens that the worker of all examples calls.
const DefaultAddress = "localhost:9193"

// callTakes is how long the service works on a call.
const callTakes = 60 * time.Millisecond

// API is a service that looks up places, and does not defend itself: it takes
// whatever comes, and keeps record of it.
type API struct {
	http    *http.Server
	address string

	mu     sync.Mutex
	began  time.Time
	active int
	record Record
	done   map[string]*answer // by idempotency key
	gate   chan struct{}      // what calls wait for; closed: nothing
}

// answer is what was found out under an idempotency key.
type answer struct {
	token uint64        // the highest that came with the key
	ready chan struct{} // closed when the place is known
	place Place
	known bool
}

// Listen starts a service. A port of zero means any free one.
func Listen(address string) (*API, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("admission: listen: %w", err)
	}
	a := &API{address: listener.Addr().String(), gate: make(chan struct{})}
	close(a.gate)
	a.Begin()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /places", a.postPlaces)
	mux.HandleFunc("GET /calls", a.getCalls)
	a.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := a.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Errorf("admission: serve: %w", err)) // nobody could tell why the graph fails
		}
	}()
	return a, nil
}

// Address is the host and port the service listens on.
func (a *API) Address() string { return a.address }

// Close ends the service and the calls it is answering.
func (a *API) Close() error { return a.http.Close() }

// Begin forgets all calls, and counts time from now.
func (a *API) Begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.began, a.record, a.done = time.Now(), Record{}, map[string]*answer{}
}

// Hold makes every call wait until release is called, once.
func (a *API) Hold() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	gate := make(chan struct{})
	a.gate = gate
	return func() { close(gate) }
}

// Elapsed is the time since the service began, by which it times calls.
func (a *API) Elapsed() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.began)
}

// Record is what the service has seen since it began.
func (a *API) Record() Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Record{Calls: append([]Call(nil), a.record.Calls...), Peak: a.record.Peak}
}

func (a *API) postPlaces(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get(headerKey)
	token, err := strconv.ParseUint(r.Header.Get(headerToken), 10, 64)
	if key == "" || err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	found, first := a.claim(key, token)
	switch {
	case found == nil: // a later attempt has a permit of its own: this one is over
		w.WriteHeader(http.StatusConflict)
		return
	case first:
		a.work(found, r.URL.Query().Get("address"), Call{Tenant: r.Header.Get(headerTenant), Token: token})
	default:
		<-found.ready // the work is not done twice
	}
	if !found.known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply(w, found.place)
}

// claim finds what was done under a key, and tells whether this is the first call
// under it. It gives nil for a call whose token is older than one that the key came
// with.
func (a *API) claim(key string, token uint64) (found *answer, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, again := a.done[key]
	switch {
	case !again:
		found = &answer{ready: make(chan struct{})}
		a.done[key] = found
	case token < found.token:
		return nil, false
	}
	found.token = token
	return found, !again
}

// work does what the caller asked for, and keeps record of it. The caller may go
// away; what was begun is finished, as with many a service.
func (a *API) work(found *answer, address string, call Call) {
	a.mu.Lock()
	call.At = time.Since(a.began)
	a.active++
	a.record.Calls = append(a.record.Calls, call)
	a.record.Peak = max(a.record.Peak, a.active)
	gate := a.gate
	a.mu.Unlock()

	<-gate
	<-time.After(callTakes)
	sum := crc32.ChecksumIEEE([]byte(address))
	found.place = Place{North: float64(int(sum%180) - 90), East: float64(int(sum/180%360) - 180)}
	found.known = address != "nowhere"
	close(found.ready)

	a.mu.Lock()
	defer a.mu.Unlock()
	a.active--
}

// getCalls tells what was seen, for whoever is curious.
func (a *API) getCalls(w http.ResponseWriter, _ *http.Request) {
	record := a.Record()
	counts := map[string]int{}
	for _, call := range record.Calls {
		counts[call.Tenant]++
	}
	reply(w, map[string]any{"calls": counts, "peak": record.Peak})
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the caller is gone when it fails, and will ask again
}
