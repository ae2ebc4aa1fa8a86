package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// httpArgs are the arguments of the action http.
type httpArgs struct {
	Method  string            `json:"method"` // GET when empty
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`   // text is sent as it is, anything else as JSON
	Expect  expect            `json:"expect"` // json when empty
}

// expect is how a response's body is read.
type expect string

const (
	expectJSON expect = "json"
	expectText expect = "text"
	expectNode expect = "node_result" // the endpoint says what the node does
)

// fetcher is the action http of one worker.
type fetcher struct {
	hosts    hosts
	anywhere bool // requests do not go to the network
	client   *http.Client
}

// act is the action http: one request, whose result is {status, headers, body}
// and whose output is the body.
//
// Repeats: the endpoint is sent the activation's key as Idempotency-Key, so that
// it can tell a repetition.
// Final errors: http_host_refused, http_4xx but 408 and 429, a body that is not
// what was expected, arguments that make no request.
func (f *fetcher) act(ctx context.Context, args json.RawMessage) (Result, error) {
	in, target, err := f.read(args)
	if err != nil {
		return Result{}, err
	}
	request, err := in.request(ctx, target)
	if err != nil {
		return Result{}, err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return Result{}, requestError(ctx, target, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := readBody(ctx, response)
	if err != nil {
		return Result{}, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return Result{}, statusError(request, response, body)
	}
	return in.Expect.result(response, body)
}

// read checks the arguments before anything is sent.
func (f *fetcher) read(args json.RawMessage) (httpArgs, *url.URL, error) {
	var in httpArgs
	if err := strict(args, &in); err != nil {
		return in, nil, invalidHTTP("http takes method, url, headers, body and expect: %v", err)
	}
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	in.Method = strings.ToUpper(in.Method)
	if in.Expect == "" {
		in.Expect = expectJSON
	}
	if !slices.Contains([]expect{expectJSON, expectText, expectNode}, in.Expect) {
		return in, nil, invalidHTTP("expect is %q; write json, text or node_result", string(in.Expect))
	}
	target, err := url.Parse(in.URL)
	if err != nil { // its message would quote the URL
		return in, nil, invalidHTTP("url is not a URL")
	}
	return in, target, f.check(target)
}

func invalidHTTP(format string, args ...any) error {
	return NewError(graph.ErrTypeNodeInputSchema, fmt.Sprintf(format, args...)).NotRetryable()
}

// request builds the request. What the author writes in headers wins.
func (in httpArgs) request(ctx context.Context, target *url.URL) (*http.Request, error) {
	body, contentType := in.payload()
	request, err := http.NewRequestWithContext(ctx, in.Method, target.String(), body)
	if err != nil {
		return nil, invalidHTTP("method %q makes no request", in.Method)
	}
	request.Header.Set("User-Agent", "tidemill")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if in.Expect != expectText {
		request.Header.Set("Accept", "application/json")
	}
	if key := Info(ctx).Key; key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	for name, text := range in.Headers {
		if strings.EqualFold(name, "Host") {
			return nil, invalidHTTP("the header Host cannot be set; it follows from the url")
		}
		if strings.ContainsAny(name+text, "\r\n\x00") {
			return nil, invalidHTTP("a header contains a line break")
		}
		request.Header.Set(name, text)
	}
	return request, nil
}

// payload is the body to send and what it is.
func (in httpArgs) payload() (io.Reader, string) {
	switch value.KindOf(in.Body) {
	case value.KindNull, value.KindInvalid:
		return nil, ""
	case value.KindString:
		var text string
		if err := json.Unmarshal(in.Body, &text); err == nil {
			return strings.NewReader(text), "text/plain; charset=utf-8"
		}
	case value.KindBool, value.KindNumber, value.KindArray, value.KindObject:
	}
	return bytes.NewReader(in.Body), "application/json"
}

// readBody reads as much as the node's result may hold.
func readBody(ctx context.Context, response *http.Response) ([]byte, error) {
	limit, cure := payloadLimit(ctx)
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err != nil {
		return nil, NewError(graph.ErrTypeHTTPUnreachable, "the connection broke while the response was read").WithCause(err)
	}
	if len(body) > limit {
		return nil, NewError(graph.ErrTypeOutputTooLarge, fmt.Sprintf(
			"the response has more than %d bytes; fetch less, or %s", limit, cure)).NotRetryable()
	}
	return body, nil
}

// payloadLimit is the size a response may have, and what to do about it.
func payloadLimit(ctx context.Context) (limit int, cure string) {
	const raise = "raise limits.payload"
	switch t := tryOf(ctx); {
	case t == nil:
		return graph.DefaultPayloadLimit, raise
	case t.limit < t.task.Limits.Payload:
		return t.limit, "remove mode: local"
	default:
		return t.limit, raise
	}
}

// requestError says why there was no response, without the parts of the URL that
// may hold secrets.
func requestError(ctx context.Context, target *url.URL, err error) error {
	refused := new(Error)
	if errors.As(err, &refused) {
		return refused
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	cause := err.Error()
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		cause = wrapped.Err.Error()
	}
	if strings.Contains(cause, "Location header") { // it quotes the URL
		cause = "its redirect leads nowhere"
	}
	return NewError(graph.ErrTypeHTTPUnreachable, fmt.Sprintf("%s cannot be reached: %s", place(target), cause)).WithCause(err)
}

// place is a URL as messages may show it.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }
