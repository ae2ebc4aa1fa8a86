package tidemilltest

import (
	"bytes"
	"net/http"
)

// Serve answers every request of the action http with a Go handler, without a network.
func Serve(handler http.Handler) Fake { return Always(Step{http: &httpAnswer{handler: handler}}) }

// recorder keeps what a handler answers. It is an [http.ResponseWriter].
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of the answer.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the first status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write adds to the body.
func (r *recorder) Write(data []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(data)
}

// ask has a handler answer a request.
func ask(handler http.Handler, request *http.Request) *recorder {
	r := &recorder{header: http.Header{}}
	served := request.Clone(request.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	if served.Host == "" {
		served.Host = served.URL.Host
	}
	served.RequestURI = served.URL.RequestURI()
	handler.ServeHTTP(r, served)
	r.WriteHeader(http.StatusOK)
	return r
}
