package permits_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// A team's own classifier must not take the worker down, nor ask the book for what
// it would refuse for ever.
func TestChecked(t *testing.T) {
	t.Parallel()
	wrong, over := errors.New("no such tenant"), 200
	for _, test := range []struct {
		name  string
		class permits.Class
		err   error
		panic bool
		want  string
	}{
		{name: "an error", err: wrong, want: "no such tenant"},
		{name: "a panic", panic: true, want: "the classifier panicked: no table of tenants"},
		{name: "a domain without limits", class: permits.Class{Domain: "b", Agent: "a"}, want: `no limits for a domain "b"`},
		{name: "no domain's name", class: permits.Class{Domain: "a b", Agent: "a"}, want: "not the name of a domain"},
		{name: "a key without a name", class: permits.Class{Keys: []admission.Units{{}}}, want: "keys[0].key: is empty"},
		{name: "a priority", class: permits.Class{Priority: &over}, want: "priority: is 200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			classify := permits.Checked(func(permits.Facts) (permits.Class, error) {
				if test.panic {
					panic("no table of tenants")
				}
				return test.class, test.err
			}, "default", "a")
			class, err := classify(permits.Facts{})
			require.ErrorContains(t, err, test.want)
			require.Zero(t, class)
			if test.err == nil {
				require.ErrorIs(t, err, permits.ErrUnclassified)
			} else {
				require.ErrorIs(t, err, test.err)
			}
		})
	}
	free, err := permits.Checked(func(permits.Facts) (permits.Class, error) { return permits.Class{}, nil })(permits.Facts{})
	require.NoError(t, err)
	require.True(t, free.Free())
	require.Equal(t, permits.DefaultDomain, free.Domain)
}

// A classifier in Go sees the same partitions as rules, and its word is the last.
func TestPartitioned(t *testing.T) {
	t.Parallel()
	p := permits.Partition{From: "${ run.lane.app }", Known: []string{"acme"}}
	classify, err := permits.Partitioned(p, func(f permits.Facts) (permits.Class, error) {
		if f.Partition == permits.PartitionOther {
			return permits.Class{Flow: "rest"}, nil
		}
		return permits.Class{Keys: []admission.Units{{Key: "tenant:" + f.Partition}}}, nil
	})
	require.NoError(t, err)
	class, err := classify(permits.Facts{Type: "agent", Agent: "planner", App: "acme"})
	require.NoError(t, err)
	require.Equal(t, permits.Class{Keys: []admission.Units{{Key: "tenant:acme"}}, Flow: "acme"}, class)
	class, err = classify(permits.Facts{Type: "agent", Agent: "planner", App: "initech"})
	require.NoError(t, err)
	require.True(t, class.Free())
	require.Equal(t, "rest", class.Flow)

	_, err = permits.Partitioned(permits.Partition{From: "${ x }", Known: []string{"a"}}, classify)
	require.ErrorContains(t, err, "there is no name x")
}
