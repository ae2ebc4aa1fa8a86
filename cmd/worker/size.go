package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph/source"
)

// limit reads a size such as 1MiB, 512KiB or a number of bytes.
func (r *reader) limit(n *source.Node, at string) int {
	size, ok := parseSize(n.Text)
	if n.Kind != source.String && n.Kind != source.Number || !ok {
		r.add(n.Pos, "invalid_size", at, "a size was needed here", "write 1MiB, 512KiB or a number of bytes")
		return 0
	}
	limits := tidemill.WorkerOptions{Limits: tidemill.Limits{Payload: size}}
	if limits.Validate() != nil {
		r.add(n.Pos, "invalid_size", at, fmt.Sprintf("%s is more than a Temporal server takes", n.Text), "write at most 1984KiB")
		return 0
	}
	return size
}

// parseSize reads a whole number of at least one, with B, KiB or MiB after it.
func parseSize(text string) (int, bool) {
	unit := 1
	for _, u := range []struct {
		name  string
		bytes int
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, false
	}
	return int(n) * unit, true
}
