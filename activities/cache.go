package activities

import (
	"sync"

	"github.com/tidemill/tidemill/graph/value"
)

// cache keeps the values made last, by key. When it is full the one kept longest
// makes room: values are cheap to make again.
type cache[V any] struct {
	mu    sync.Mutex
	limit int
	kept  map[string]V
	order []string
}

func newCache[V any](limit int) *cache[V] {
	return &cache[V]{limit: limit, kept: make(map[string]V, limit)}
}

// get returns the value of key, made by build when it is not kept. Two callers
// may build the same one at a time; building holds no lock.
func (c *cache[V]) get(key string, build func() (V, error)) (V, error) {
	c.mu.Lock()
	v, ok := c.kept[key]
	c.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := build()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[key]; !ok {
		c.order = append(c.order, key)
	}
	c.kept[key] = v
	if len(c.order) > c.limit {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	return v, nil
}

// digest identifies a value by its canonical form.
func digest(v any) (string, error) {
	raw, err := value.Marshal(v)
	if err != nil {
		return "", err
	}
	return value.Digest(raw), nil
}
