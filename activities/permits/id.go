package permits

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// maxWhat is how long the middle of a request id may be, in bytes.
const maxWhat = 512

// shorten keeps the beginning of what is too long, and tells the rest apart by a
// digest.
func shorten(what string) string {
	if len(what) <= maxWhat {
		return what
	}
	sum := sha256.Sum256([]byte(what))
	return strings.ToValidUTF8(what[:maxWhat-40], "") + "…" + hex.EncodeToString(sum[:16])
}

// NumberOf is the number of the acquisition that an id of a chain of runs stands
// for; not ok when it is not one of that chain's.
func NumberOf(id, firstRun string) (uint64, bool) {
	rest, ours := strings.CutPrefix(id, firstRun+"/")
	at := strings.LastIndexByte(rest, '!')
	if !ours || at < 0 {
		return 0, false
	}
	number, err := strconv.ParseUint(rest[at+1:], 10, 64)
	return number, err == nil
}
