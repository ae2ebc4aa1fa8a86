package orders

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// DefaultAddress is where the shop of the example listens; the graph's URLs lead
// there.
const DefaultAddress = "localhost:9191"

// Server is a running shop. Its methods may be called from several goroutines.
type Server struct {
	shop    *shop
	http    *http.Server
	address string
}

// Listen starts a shop with the orders 3, 7, 9 and one called broken, which is
// always answered with 503. A port of zero means any free one.
func Listen(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("orders: listen: %w", err)
	}
	s := &Server{shop: newShop(), address: listener.Addr().String()}
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Errorf("orders: serve: %w", err)) // nobody could tell why the graph fails
		}
	}()
	return s, nil
}

// Address is the host and port the server listens on.
func (s *Server) Address() string { return s.address }

// URL is where the server answers, as in http://127.0.0.1:9191.
func (s *Server) URL() string { return "http://" + s.address }

// Close ends the server and the calls it is answering.
func (s *Server) Close() error { return s.http.Close() }

// Put adds an order, or replaces the one with its id.
func (s *Server) Put(order Order) { s.shop.put(order) }

// Break makes the server answer 503 for an order until [Server.Mend].
func (s *Server) Break(id string) { s.shop.setBroken(id, true) }

// Mend undoes [Server.Break].
func (s *Server) Mend(id string) { s.shop.setBroken(id, false) }

// Hold makes every attempt to ship an order wait until release is called.
// Calling release twice is harmless.
func (s *Server) Hold(id string) (release func()) { return s.shop.hold(id) }

// Calls says how often a path was called, as in Calls("GET", "/orders/7").
// Shipping is counted for each order, as in Calls("POST", "/parcels?order=7").
func (s *Server) Calls(method, path string) int { return s.shop.counted()[method+" "+path] }

// Parcels are those that were made of an order. More than one means that it was
// shipped twice.
func (s *Server) Parcels(order string) []Parcel { return s.shop.parcelsOf(order) }

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", s.getOrder)
	mux.HandleFunc("POST /parcels", s.postParcel)
	mux.HandleFunc("GET /parcels/{id}", s.getParcel)
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.shop.counted()) })
	return mux
}

func (s *Server) getOrder(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.shop.count("GET /orders/" + id)
	order, known := s.shop.order(id)
	switch {
	case s.shop.isBroken(id):
		refuse(w, http.StatusServiceUnavailable, "the order database is down")
	case !known:
		refuse(w, http.StatusNotFound, "no such order")
	default:
		answer(w, http.StatusOK, order)
	}
}

func (s *Server) postParcel(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Order string `json:"order"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "the body is not {\"order\": id}")
		return
	}
	s.shop.count("POST /parcels?order=" + body.Order)
	if _, known := s.shop.order(body.Order); !known {
		refuse(w, http.StatusUnprocessableEntity, "no such order")
		return
	}
	if gate := s.shop.gate(body.Order); gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return // the caller is gone
		}
	}
	answer(w, http.StatusOK, s.shop.ship(body.Order, r.Header.Get("Idempotency-Key")))
}

func (s *Server) getParcel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.shop.count("GET /parcels/" + id)
	parcel, known := s.shop.look(id)
	if !known {
		refuse(w, http.StatusNotFound, "no such parcel")
		return
	}
	answer(w, http.StatusOK, parcel)
}

// refuse answers with a message that a run shows as its error.
func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"error": message})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller that is gone needs no answer
}
