package value

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// MaxDepth is how many arrays and objects may be nested in a value.
const MaxDepth = 512

// Canonical returns the canonical form of data, which must hold exactly one JSON
// value. The result never shares memory with data. Errors are [*Error].
func Canonical(data []byte) (json.RawMessage, error) {
	out, err := canonical(data, false)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// canonical gives a typed error so that callers may add to it. With strictFFFD
// the escape \ufffd is refused: see [Marshal].
func canonical(data []byte, strictFFFD bool) (json.RawMessage, *Error) {
	p := parser{in: data, out: make([]byte, 0, len(data)), strictFFFD: strictFFFD}
	p.space()
	if err := p.value(); err != nil {
		return nil, err
	}
	p.space()
	if p.pos != len(p.in) {
		return nil, p.fail(ReasonSyntax)
	}
	return p.out, nil
}

// Equal reports whether a and b are the same value: 1 and 1.0 are, in any order
// of keys. Equal bytes are equal; otherwise text that is not JSON equals nothing.
func Equal(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	ca, err := Canonical(a)
	if err != nil {
		return false
	}
	cb, err := Canonical(b)
	return err == nil && bytes.Equal(ca, cb)
}

// Digest returns the SHA-256 of the canonical bytes of raw in lower-case hex. It
// does not depend on how a transport spaced or escaped the value. Text that is
// not JSON is hashed as it stands.
func Digest(raw json.RawMessage) string {
	canon, err := Canonical(raw)
	if err != nil {
		canon = raw
	}
	sum := sha256.Sum256(canon)
	return hex.EncodeToString(sum[:])
}
