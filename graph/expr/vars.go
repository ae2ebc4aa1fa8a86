package expr

import (
	"encoding/json"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/tidemill/tidemill/graph/value"
)

// Vars are the values of the names in scope. Raw values are canonical JSON; an
// absent one reads as null. Each is decoded only when it is read, and one key
// of the state without the others.
type Vars struct {
	State  value.Object
	Input  json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	Item   json.RawMessage
	Index  int // of the item, from 0
	Run    json.RawMessage
	Facts  map[string]string // and the partition, by name; an absent one is empty

	// Secret gives the value of a secret. Its error is not shown to anyone:
	// the evaluation fails with SecretNotAllowed and the secret's name.
	Secret func(name string) (string, error)
}

// scope serves one evaluation: it decodes each name at most once.
type scope struct {
	vars    *Vars
	decoded map[string]ref.Val
}

func newScope(v *Vars) *scope {
	if v == nil {
		v = &Vars{}
	}
	return &scope{vars: v, decoded: make(map[string]ref.Val, 2)}
}

// ResolveName implements CEL's activation.
func (s *scope) ResolveName(name string) (any, bool) {
	if v, ok := s.decoded[name]; ok {
		return v, true
	}
	v, ok := s.read(name)
	if ok {
		s.decoded[name] = v
	}
	return v, ok
}

// Parent implements CEL's activation.
func (s *scope) Parent() interpreter.Activation { return nil }

func (s *scope) read(name string) (ref.Val, bool) {
	switch name {
	case "state":
		return rawObject(s.vars.State), true
	case "input":
		return decode(s.vars.Input), true
	case "result":
		return decode(s.vars.Result), true
	case "error":
		return decode(s.vars.Error), true
	case "item":
		return decode(s.vars.Item), true
	case "index":
		return types.Int(s.vars.Index), true
	case "run":
		return decode(s.vars.Run), true
	case secretsName:
		return &vault{object: &object{}, open: s.vars.Secret}, true
	}
	if fact, ok := strings.CutPrefix(name, factPrefix); ok {
		return types.String(s.vars.Facts[fact]), true
	}
	return nil, false
}

// vault is the object whose fields are the secrets, each read when it is used.
type vault struct {
	*object
	open func(name string) (string, error)
}

// Find implements traits.Mapper.
func (v *vault) Find(key ref.Val) (ref.Val, bool) {
	name, _ := key.(types.String)
	if v.open == nil {
		return types.WrapErr(&fault{SecretNotAllowed, "this worker gives no secrets to expressions"}), false
	}
	secret, err := v.open(string(name))
	if err != nil {
		return types.WrapErr(&fault{SecretNotAllowed, "the worker does not give the secret " + string(name)}), false
	}
	return types.String(secret), true
}

// Get implements traits.Indexer.
func (v *vault) Get(key ref.Val) ref.Val {
	secret, _ := v.Find(key)
	return secret
}
