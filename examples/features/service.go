package features

import (
	"encoding/json"
	"net/http"
)

// ServiceAddress is where the graphs look for the [Service].
const ServiceAddress = "localhost:9192"

// SecretName is the secret of the worker that opens the vault of the [Service].
const SecretName = "VAULT_TOKEN"

// Service is what the graphs http, node-result and secrets speak to: exchange
// rates, somebody who decides, and a vault that opens to the bearer of a token.
func Service(token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rates/{currency}", rates)
	mux.HandleFunc("POST /decide", decide)
	mux.HandleFunc("GET /vault", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		reply(w, map[string]string{"content": "an old coin"})
	})
	return mux
}

func rates(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("currency") != "SEK" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply(w, map[string]float64{"rate": 11.2})
}

// decide answers in the words of `expect: node_result`: at most one of output,
// stop, pause, route and error.
func decide(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Amount int `json:"amount"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch {
	case in.Amount < 0:
		reply(w, map[string]any{"route": "refused"})
	case in.Amount == 0:
		reply(w, map[string]any{"stop": "nothing to book"})
	case in.Amount <= 100:
		reply(w, map[string]any{"output": map[string]string{"by": "a rule"}})
	case in.Amount <= 1000:
		reply(w, map[string]any{"pause": map[string]any{
			"reason": "large", "summary": "A large amount: who takes it upon them?",
			"resume_schema": map[string]any{"type": "object", "required": []string{"by"}},
		}})
	default:
		reply(w, map[string]any{"error": map[string]any{"type": "over_limit", "message": "at most 1000"}})
	}
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the caller is gone when it fails, and will ask again
}
