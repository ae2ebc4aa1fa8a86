package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// Plain is v as a JSON payload that holds text as it is. The SDK's converter
// writes each of < > & as six bytes, even within JSON that is canonical already:
// a page of HTML that is within the limits would then be too large for a
// history. Codecs see the payload like any other, and any JSON converter reads it.
func Plain(v any) (converter.RawValue, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return converter.RawValue{}, fmt.Errorf("activities: payload: %w", err)
	}
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
		Data:     bytes.TrimSuffix(b.Bytes(), []byte("\n")),
	}), nil
}

// plain is an activity whose result leaves as a [Plain] payload.
func plain[In, Out any](activity func(context.Context, In) (Out, error)) func(context.Context, In) (converter.RawValue, error) {
	return func(ctx context.Context, in In) (converter.RawValue, error) {
		out, err := activity(ctx, in)
		if err != nil {
			return converter.RawValue{}, err
		}
		return Plain(out)
	}
}
