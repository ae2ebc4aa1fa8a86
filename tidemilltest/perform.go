package tidemilltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph/value"
)

// attempt is one attempt on its way through the wrapper of actions.
type attempt struct{ step Step }

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// perform does what the step says, as the action would.
func (s Step) perform(ctx context.Context, call Call) (tidemill.Result, error) {
	switch {
	case s.idle || s.hangs: // nobody hears it
		return tidemill.Result{}, nil
	case s.failure != nil:
		e := *s.failure
		return tidemill.Result{}, &e
	case s.call != nil:
		given, err := s.call(ctx, call)
		if err != nil {
			return tidemill.Result{}, err
		}
		if result, ok := given.(tidemill.Result); ok {
			return result, nil
		}
		return tidemill.Output(given), nil
	case s.result != nil:
		return *s.result, nil
	case s.http != nil || call.Name == activities.NameHTTP:
		return s.request(ctx, call)
	default:
		return tidemill.Output(s.output), nil
	}
}

// request has the real action http make its request, and answers it.
func (s Step) request(ctx context.Context, call Call) (tidemill.Result, error) {
	answer := s.http
	if answer == nil {
		answer = &httpAnswer{Status: http.StatusOK, Body: s.output}
	}
	if call.Name != activities.NameHTTP {
		return tidemill.Result{}, tidemill.NewError("tidemilltest",
			fmt.Sprintf("the fake of %q answers as http does; give it an output", call.Name)).NotRetryable()
	}
	var asked struct {
		Expect string `json:"expect"`
	}
	_ = json.Unmarshal(call.Args, &asked) // what is wrong with them is the action's to say
	return activities.HTTPAction(&transport{httpAnswer: *answer, text: asked.Expect == "text"})(ctx, call.Args)
}

// transport carries requests to an answer. It is an [http.RoundTripper].
type transport struct {
	httpAnswer

	text bool // text in the body is no JSON
}

// RoundTrip answers a request.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.handler != nil {
		r := ask(t.handler, request)
		return response(request, r.status, r.header, r.body.Bytes()), nil
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for name, text := range t.Headers {
		header.Set(name, text)
	}
	if text, ok := t.Body.(string); ok && t.text {
		return response(request, t.Status, header, []byte(text)), nil
	}
	body, err := value.Marshal(t.Body)
	if err != nil {
		return nil, fmt.Errorf("tidemilltest: the body of the answer is not JSON: %w", err)
	}
	return response(request, t.Status, header, body), nil
}

func response(request *http.Request, status int, header http.Header, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: request,
	}
}

// raw is what an activity without our wrapper gives.
func raw(v any) (json.RawMessage, error) {
	if v == nil {
		return value.Null(), nil
	}
	return value.Marshal(v)
}
