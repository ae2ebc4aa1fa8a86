package temporaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
)

// What one workflow task may hold. Until it ends, a lost worker repeats all of it, and
// queries and signals wait; and what it sends must fit into one message.
const (
	TaskMarkers     = 256
	TaskMarkerBytes = 512 << 10
	TaskBytes       = 2 << 20
	TaskLocal       = 2 * time.Second
)

// longestLocal is the longest that one local activity may take: a local action has
// a timeout of at most a second, and everything of our own is quicker.
const longestLocal = time.Second

// Audit reports every workflow task of a history that holds more than it may: markers,
// bytes of markers, bytes in all, or time spent on local activities.
//
// That time is what the workflow's own clock says, which the interpreter ends its tasks
// by: it goes from the start of a task to the end of its last local activity, and
// neither a replay that had to come first nor the way to the server is in it. Each marker
// of a local activity holds when it ended. No single one may take more than a second, so
// a longer silence is a machine that had no time for us and counts as one second. Of a
// task whose markers are encoded by a codec the time is not known, and not judged.
func Audit(history *historypb.History) error {
	var errs []error
	for i, task := range Tasks(history) {
		if err := task.audit(); err != nil {
			errs = append(errs, fmt.Errorf("workflow task %d, completed by event %d: %w", i+1, task.EventID, err))
		}
	}
	return errors.Join(errs...)
}

func (t Task) audit() error {
	var errs []error
	for _, c := range []struct {
		what      string
		have, max int
	}{
		{"markers", t.Markers, TaskMarkers},
		{"bytes of markers", t.MarkerBytes, TaskMarkerBytes},
		{"bytes", t.Bytes, TaskBytes},
		{"milliseconds of local work", int(t.Local.Milliseconds()), int(TaskLocal.Milliseconds())},
	} {
		if c.have > c.max {
			errs = append(errs, fmt.Errorf("%d %s, and %d are allowed", c.have, c.what, c.max))
		}
	}
	return errors.Join(errs...)
}

// Names in the markers of local activities. Stable: the SDK wrote histories with them.
const (
	localMarker     = "LocalActivity"
	localMarkerData = "data"
)

// work adds the time that a local activity took, if the marker is of one.
func (t *Task) work(marker *historypb.MarkerRecordedEventAttributes) {
	if marker.GetMarkerName() != localMarker {
		return
	}
	payloads := marker.GetDetails()[localMarkerData].GetPayloads()
	if len(payloads) != 1 || string(payloads[0].GetMetadata()[converter.MetadataEncoding]) != converter.MetadataEncodingJSON {
		return
	}
	var data struct{ ReplayTime time.Time }
	if json.Unmarshal(payloads[0].GetData(), &data) != nil || !data.ReplayTime.After(t.at) {
		return
	}
	t.Local += min(data.ReplayTime.Sub(t.at), longestLocal)
	t.at = data.ReplayTime
}
