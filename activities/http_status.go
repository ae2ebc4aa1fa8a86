package activities

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// statusError is the failure of a response that is not a success. What may pass
// by itself is retryable, after the wait the endpoint asks for. A short JSON body
// says more than the status and is attached.
func statusError(request *http.Request, response *http.Response, body []byte) error {
	code := response.StatusCode
	e := NewError(graph.ErrTypeHTTPStatusPrefix+strconv.Itoa(code),
		fmt.Sprintf("%s %s answered %d %s", request.Method, place(request.URL), code, http.StatusText(code)))
	if content, err := value.Canonical(body); err == nil && len(content) <= maxSummary {
		e = e.WithDetails(map[string]any{"status": code, "body": content})
	}
	if code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500 {
		return e.After(retryAfter(response.Header.Get("Retry-After"), time.Now()))
	}
	return e.NotRetryable()
}

// retryAfter reads the header: seconds, or a date. Zero is "not said".
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.Atoi(header); err == nil {
		const most = 365 * 24 * 3600
		return time.Duration(max(min(seconds, most), 0)) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// result reads a successful response.
func (x expect) result(response *http.Response, body []byte) (Result, error) {
	content, err := x.content(body)
	if err != nil {
		return Result{}, err
	}
	r := Output(content)
	if x == expectNode {
		if r, err = nodeResult(content); err != nil {
			return Result{}, err
		}
	}
	r.full = map[string]any{"status": response.StatusCode, "headers": headersOf(response.Header), "body": content}
	return r, nil
}

// content is the body as JSON. An empty body is null.
func (x expect) content(body []byte) (json.RawMessage, error) {
	if x == expectText {
		text, err := value.Marshal(string(body))
		if err != nil {
			return nil, unexpected("the response is not UTF-8 text")
		}
		return text, nil
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		return value.Null(), nil
	}
	content, err := value.Canonical(body)
	if err != nil {
		return nil, unexpected("the response is not JSON: %v; use expect: text for other content", err)
	}
	return content, nil
}

// unexpected is the failure of an endpoint that answers otherwise than the graph
// says. Asking again would repeat the effect for the same answer.
func unexpected(format string, args ...any) error {
	return NewError(graph.ErrTypeInvalidActionResult, fmt.Sprintf(format, args...)).NotRetryable()
}

// headersOf are the response's headers by lower-case name, values joined by
// commas. Cookies are left out: they are credentials.
func headersOf(header http.Header) map[string]string {
	headers := make(map[string]string, len(header))
	for name, values := range header {
		switch name = strings.ToLower(name); name {
		case "set-cookie", "set-cookie2":
		default:
			headers[name] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
		}
	}
	return headers
}
