package activities_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// serve starts an endpoint and a bench whose http action may reach it.
func serve(t *testing.T, handler http.HandlerFunc) (*bench, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	b := setup(t)
	b.options.HTTP = activities.HTTPOptions{Hosts: []string{"127.0.0.1", "localhost"}, Private: true}
	return b, server
}

// fetch makes one attempt of an http node with the given arguments.
func (b *bench) fetch(fields string, args map[string]any) graph.Ending {
	b.tb.Helper()
	raw, err := json.Marshal(args)
	require.NoError(b.tb, err)
	if fields != "" {
		fields = ", " + fields
	}
	task := b.task("retry: {max_attempts: 3}" + fields)
	task.Node.Run.Name, task.Node.Args = activities.NameHTTP, raw
	task.Limits.Payload = 10_000
	return b.run(task)
}

func say(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func TestHTTPRequest(t *testing.T) {
	t.Parallel()
	type seen struct {
		method, path, body string
		header             http.Header
	}
	requests := make(chan seen, 1)
	b, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Method, r.URL.String(), string(body), r.Header}
		w.Header().Add("X-Many", "a")
		w.Header().Add("X-Many", "b")
		w.Header().Set("Set-Cookie", "session=1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id": 9007199254740993, "ok": true}`)
	})
	ending := b.fetch(`output: "${ result }", delta: {id: "${ result.body.id }"}`, map[string]any{
		"method": "post", "url": server.URL + "/orders?x=1", "headers": map[string]string{"X-Test": "<1>"},
		"body": map[string]any{"b": 1, "a": "<"},
	})
	require.Equal(t, graph.Returned, ending.Kind, "failure: %v", ending.Failure)

	got := <-requests
	require.Equal(t, "POST", got.method)
	require.Equal(t, "/orders?x=1", got.path)
	canonical := `{"a":"<","b":1}`
	require.Equal(t, canonical, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "<1>", got.header.Get("X-Test"))
	require.Equal(t, "lineage/work#1", got.header.Get("Idempotency-Key"))

	var result struct {
		Status  int
		Headers map[string]string
		Body    json.RawMessage
	}
	require.NoError(t, json.Unmarshal(ending.Result.Output, &result))
	require.Equal(t, 201, result.Status)
	require.Equal(t, "a, b", result.Headers["x-many"])
	require.NotContains(t, result.Headers, "set-cookie", "a cookie is a credential and history is not its place")
	require.JSONEq(t, `{"id":9007199254740993,"ok":true}`, string(result.Body))
	id, _ := ending.Result.Delta.Get("id")
	require.Equal(t, "9007199254740993", string(id))
}

func TestHTTPBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   map[string]any
		answer string
		sent   string
		kind   string // content type sent
		want   string // output
		failed string
	}{
		"json":            {args: map[string]any{}, answer: ` {"b":1, "a":"<"} `, want: `{"a":"<","b":1}`},
		"nothing":         {args: map[string]any{}, answer: "", want: `null`},
		"text":            {args: map[string]any{"expect": "text"}, answer: "hi <&>", want: `"hi <&>"`},
		"not JSON":        {args: map[string]any{}, answer: "<html>", failed: graph.ErrTypeInvalidActionResult},
		"two values":      {args: map[string]any{}, answer: "1 2", failed: graph.ErrTypeInvalidActionResult},
		"duplicate keys":  {args: map[string]any{}, answer: `{"a":1,"a":2}`, failed: graph.ErrTypeInvalidActionResult},
		"not UTF-8":       {args: map[string]any{"expect": "text"}, answer: "\xff", failed: graph.ErrTypeInvalidActionResult},
		"too large":       {args: map[string]any{"expect": "text"}, answer: strings.Repeat("x", 10_001), failed: graph.ErrTypeOutputTooLarge},
		"sends text":      {args: map[string]any{"body": "<a>", "method": "PUT"}, answer: "1", sent: "<a>", kind: "text/plain; charset=utf-8", want: "1"},
		"sends a list":    {args: map[string]any{"body": []int{1}, "method": "PUT"}, answer: "1", sent: "[1]", kind: "application/json", want: "1"},
		"own type wins":   {args: map[string]any{"body": "a=1", "method": "PUT", "headers": map[string]string{"content-type": "application/x-www-form-urlencoded"}}, answer: "1", sent: "a=1", kind: "application/x-www-form-urlencoded", want: "1"},
		"a null body":     {args: map[string]any{"body": nil, "method": "PUT"}, answer: "1", want: "1"},
		"expect what":     {args: map[string]any{"expect": "xml"}, failed: graph.ErrTypeNodeInputSchema},
		"misspelt":        {args: map[string]any{"header": map[string]string{}}, failed: graph.ErrTypeNodeInputSchema},
		"bad method":      {args: map[string]any{"method": "GE T"}, failed: graph.ErrTypeNodeInputSchema},
		"host header":     {args: map[string]any{"headers": map[string]string{"host": "x"}}, failed: graph.ErrTypeNodeInputSchema},
		"header injected": {args: map[string]any{"headers": map[string]string{"a": "b\r\nc: d"}}, failed: graph.ErrTypeNodeInputSchema},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent, kind string
			b, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				sent, kind = string(raw), r.Header.Get("Content-Type")
				_, _ = io.WriteString(w, c.answer)
			})
			c.args["url"] = server.URL
			ending := b.fetch("", c.args)
			if c.failed != "" {
				require.NotNil(t, ending.Failure)
				require.Equal(t, c.failed, ending.Failure.Type, ending.Failure.Message)
				require.True(t, ending.Final)
				return
			}
			require.Equal(t, graph.Returned, ending.Kind, "failure: %v", ending.Failure)
			require.Equal(t, c.want, string(ending.Result.Output))
			require.Equal(t, c.sent, sent)
			require.Equal(t, c.kind, kind)
		})
	}
}

func TestHTTPStatuses(t *testing.T) {
	t.Parallel()
	for status, retryable := range map[int]bool{
		400: false, 401: false, 404: false, 409: false, 422: false, 408: true, 429: true, 500: true, 503: true, 304: false,
	} {
		b, server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			if status != http.StatusNotModified {
				_, _ = io.WriteString(w, `{"why": "<no>"}`)
			}
		})
		ending := b.fetch("", map[string]any{"url": server.URL + "/a?token=hush", "method": "POST"})
		require.NotNil(t, ending.Failure)
		require.Equal(t, fmt.Sprintf("http_%d", status), ending.Failure.Type)
		require.Equal(t, !retryable, ending.Final, "status %d", status)
		require.Contains(t, ending.Failure.Message, "POST "+server.URL+"/a answered")
		require.NotContains(t, ending.Failure.Message, "hush", "a query may hold a token")
		if retryable {
			require.Equal(t, 7*time.Second, ending.RetryAfter)
			require.JSONEq(t, fmt.Sprintf(`{"status":%d,"body":{"why":"<no>"}}`, status), string(ending.Failure.Details))
		}
	}
}

func TestHTTPHosts(t *testing.T) {
	t.Parallel()
	b, server := serve(t, say("1"))
	port := server.Listener.Addr().(*net.TCPAddr).Port
	local := func(format string) string { return fmt.Sprintf(format, port) }
	public := map[string]any{"url": server.URL}
	for name, c := range map[string]struct {
		hosts   []string
		private bool
		url     string
		allowed bool
		message string
	}{
		"nothing allowed":       {nil, true, server.URL, false, "add it to the worker's http.hosts"},
		"another host":          {[]string{"orders.internal"}, true, server.URL, false, "not allowed"},
		"allowed":               {[]string{"127.0.0.1"}, true, server.URL, true, ""},
		"allowed with its port": {[]string{local("127.0.0.1:%d")}, true, server.URL, true, ""},
		"another port":          {[]string{"127.0.0.1:1"}, true, server.URL, false, "not allowed"},
		"below the name itself": {[]string{"*.localhost"}, true, local("http://localhost:%d"), false, "not allowed"},
		"any case":              {[]string{"LocalHost"}, true, local("http://LOCALHOST:%d"), true, ""},
		// An allowed name that leads into this machine is the classic way to reach
		// what only this machine may.
		"private address":           {[]string{"127.0.0.1"}, false, server.URL, false, "not public"},
		"name for a private one":    {[]string{"localhost"}, false, local("http://localhost:%d"), false, "not public"},
		"IPv4 as IPv6":              {[]string{"[::ffff:127.0.0.1]"}, false, local("http://[::ffff:127.0.0.1]:%d"), false, "not public"},
		"IPv6 of this machine":      {[]string{"[::1]"}, false, local("http://[::1]:%d"), false, "not public"},
		"unspecified":               {[]string{"0.0.0.0"}, false, local("http://0.0.0.0:%d"), false, "not public"},
		"password in the url":       {[]string{"127.0.0.1"}, true, local("http://a:b@127.0.0.1:%d"), false, "user or password"},
		"another scheme":            {[]string{"127.0.0.1"}, true, "file:///etc/passwd", false, "scheme"},
		"no host":                   {[]string{"127.0.0.1"}, true, "http:///x", false, "names no host"},
		"a host that looks alike":   {[]string{"*.example.com"}, true, "http://evilexample.com", false, "not allowed"},
		"an address in other dress": {[]string{"127.0.0.1"}, false, local("http://2130706433:%d"), false, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.options.HTTP = activities.HTTPOptions{Hosts: c.hosts, Private: c.private}
			ending := b.fetch("", map[string]any{"url": c.url})
			if c.allowed {
				require.Equal(t, graph.Returned, ending.Kind, "failure: %v", ending.Failure)
				return
			}
			require.NotNil(t, ending.Failure)
			require.Equal(t, graph.ErrTypeHTTPHostRefused, ending.Failure.Type, ending.Failure.Message)
			require.Contains(t, ending.Failure.Message, c.message)
			require.True(t, ending.Final, "asking again would be refused again")
		})
	}
	require.Equal(t, graph.Returned, b.fetch("", public).Kind)
}

// A redirect must not lead where a request could not go, nor carry the first
// host's credentials to another.
func TestHTTPRedirects(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 4)
	_, other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		_, _ = io.WriteString(w, `"other"`)
	})
	otherPort := other.Listener.Addr().(*net.TCPAddr).Port
	b, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/there?x=1", http.StatusFound)
		case "/there":
			headers <- r.Header
			_, _ = io.WriteString(w, `"there"`)
		case "/other":
			http.Redirect(w, r, fmt.Sprintf("http://127.0.0.1:%d/", otherPort), http.StatusTemporaryRedirect)
		case "/refused":
			http.Redirect(w, r, "http://refused.example/?token=hush", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/scheme":
			http.Redirect(w, r, "gopher://127.0.0.1/", http.StatusFound)
		}
	})
	get := func(path string) graph.Ending {
		return b.fetch("", map[string]any{
			"url": server.URL + path + "?token=hush", "headers": map[string]string{"X-Api-Key": "k", "Authorization": "k"},
		})
	}
	here := get("/here")
	require.Equal(t, `"there"`, string(here.Result.Output))
	seen := <-headers
	require.Equal(t, "k", seen.Get("X-Api-Key"))
	require.Empty(t, seen.Get("Referer"), "the first URL stays with its host")

	away := get("/other")
	require.Equal(t, `"other"`, string(away.Result.Output))
	seen = <-headers
	require.Empty(t, seen.Get("X-Api-Key"))
	require.Empty(t, seen.Get("Authorization"))
	require.Equal(t, "lineage/work#1", seen.Get("Idempotency-Key"))

	for path, message := range map[string]string{
		"/refused": `host "refused.example" is not allowed`, "/loop": "more than 10 redirects", "/scheme": "scheme",
	} {
		ending := get(path)
		require.NotNil(t, ending.Failure, path)
		require.Equal(t, graph.ErrTypeHTTPHostRefused, ending.Failure.Type, path)
		require.Contains(t, ending.Failure.Message, message)
		require.NotContains(t, ending.Failure.Message, "hush")
	}
}

func TestHTTPUnreachable(t *testing.T) {
	t.Parallel()
	b, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "1")
			return
		}
		w.Header().Set("Location", "http://[::1/?token=hush")
		w.WriteHeader(http.StatusFound)
	})
	closed := httptest.NewServer(say("1"))
	closed.Close()
	for name, url := range map[string]string{
		"closed": closed.URL + "/a?token=hush", "broken": server.URL + "/broken?token=hush", "redirect": server.URL + "/r?token=hush",
	} {
		ending := b.fetch("", map[string]any{"url": url})
		require.NotNil(t, ending.Failure, name)
		require.Equal(t, graph.ErrTypeHTTPUnreachable, ending.Failure.Type, name)
		require.False(t, ending.Final, "it may be reachable next time")
		require.NotContains(t, ending.Failure.Message, "hush", name)
	}
}

// The node's timeout ends a request that hangs, and is told apart from an error.
func TestHTTPTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b, server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	ending := b.fetch("timeout: 50ms", map[string]any{"url": server.URL})
	require.Equal(t, graph.TimedOut, ending.Kind)
	require.Equal(t, graph.ErrTypeActionTimedOut, ending.Failure.Type)
}

func TestHTTPNodeResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   string
		failed string
		final  bool
	}{
		"nothing":       {answer: `{}`, want: `{"control":"ok"}`},
		"delta alone":   {answer: `{"delta":{"a":1}}`, want: `{"control":"ok","delta":{"a":1}}`},
		"output":        {answer: `{"output":{"x":1},"delta":{"a":1}}`, want: `{"output":{"x":1},"delta":{"a":1}}`},
		"null output":   {answer: `{"output":null}`, want: `{"output":null}`},
		"stop":          {answer: `{"stop":"done"}`, want: `{"control":"stop","output":"done"}`},
		"route":         {answer: `{"route":"other"}`, want: `{"control":"route","target":"other"}`},
		"pause":         {answer: `{"pause":{"reason":"why","summary":"s","show":{"a":1},"resume_schema":true,"expires":"1h"}}`, want: `{"control":"pause","pause":{"reason":"why","summary":"s","show":{"a":1},"resume_schema":true,"expires":"1h"}}`},
		"error":         {answer: `{"error":{"type":"declined","message":"no"}}`, failed: "declined", final: true},
		"error, later":  {answer: `{"error":{"type":"busy","retryable":true}}`, failed: "busy"},
		"untyped error": {answer: `{"error":{"message":"no"}}`, failed: graph.ErrTypeInvalidActionResult, final: true},
		"two":           {answer: `{"output":1,"stop":2}`, failed: graph.ErrTypeInvalidActionResult, final: true},
		"unknown field": {answer: `{"outputs":1}`, failed: graph.ErrTypeInvalidActionResult, final: true},
		"no object":     {answer: `[]`, failed: graph.ErrTypeInvalidActionResult, final: true},
		"empty":         {answer: ``, failed: graph.ErrTypeInvalidActionResult, final: true},
		"bad delta":     {answer: `{"delta":[1]}`, failed: graph.ErrTypeInvalidStateDelta, final: true},
		"bad route":     {answer: `{"route":"a b"}`, failed: graph.ErrTypeInvalidControl, final: true},
		"bad expires":   {answer: `{"pause":{"expires":"soon"}}`, failed: graph.ErrTypeInvalidActionResult, final: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, server := serve(t, say(c.answer))
			ending := b.fetch("", map[string]any{"url": server.URL, "expect": "node_result"})
			if c.failed != "" {
				require.NotNil(t, ending.Failure)
				require.Equal(t, c.failed, ending.Failure.Type, ending.Failure.Message)
				require.Equal(t, c.final, ending.Final)
				return
			}
			require.Equal(t, graph.Returned, ending.Kind, "failure: %v", ending.Failure)
			got, err := json.Marshal(ending.Result)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
}

// A proxy of the environment would be sent what the address check refuses.
func TestHTTPIgnoresProxies(t *testing.T) {
	var asked bool
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	b := setup(t)
	b.options.HTTP = activities.HTTPOptions{Hosts: []string{"*.invalid"}}
	ending := b.fetch("", map[string]any{"url": "http://nowhere.invalid/"})
	require.Equal(t, graph.ErrTypeHTTPUnreachable, ending.Failure.Type)
	require.False(t, asked)
}
