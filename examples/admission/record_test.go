package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/examples/admission"
)

// calls are calls a tenth of a second apart, of tenants by their first letters.
func calls(tenants string) admission.Record {
	names := map[rune]string{'a': admission.Acme, 'g': admission.Globex, 'i': admission.Initech}
	var r admission.Record
	for i, letter := range tenants {
		r.Calls = append(r.Calls, admission.Call{Tenant: names[letter], At: time.Duration(i) * 100 * time.Millisecond})
	}
	return r
}

// What one tenant got while another did not want more says nothing about fairness.
func TestSharesCountWhileAllWantMore(t *testing.T) {
	t.Parallel()
	const tenth = 100 * time.Millisecond
	require.Equal(t, []admission.Share{
		{Tenant: admission.Acme, Calls: 2, Last: 10 * tenth},
		{Tenant: admission.Globex, Calls: 1, Last: 8 * tenth},
		{Tenant: admission.Initech, Calls: 1, Last: 6 * tenth},
	}, calls("aagaagiagaa").Shares(admission.Tenants(), 3*tenth))
	require.Equal(t, 0, calls("aagi").Shares(admission.Tenants(), time.Hour)[0].Calls, "nobody wants more")
}

// Between grant and call one may pass another: the order of the grants decides.
func TestSharesGoByTheOrderOfPermits(t *testing.T) {
	t.Parallel()
	r := calls("aagi")
	for i, token := range []uint64{1, 4, 2, 3} {
		r.Calls[i].Token = token
	}
	require.Equal(t, 1, r.Shares(admission.Tenants(), 0)[0].Calls)
}

// A figure of the rate that is too kind would hide that the service was overrun.
func TestFiguresOfTheRate(t *testing.T) {
	t.Parallel()
	r := calls("aaaaaaaaaaaaaaa") // 10 a second
	require.Equal(t, 10, r.Fastest())
	require.Equal(t, 0, r.Ahead(10, 1))
	require.Equal(t, 1, r.Ahead(10, 0))
	require.Equal(t, 8, r.Ahead(5, 0))
	require.Equal(t, 0, admission.Record{}.Fastest())
	require.Equal(t, []int{0, 3, 15}, []int{r.Until(0), r.Until(300 * time.Millisecond), r.Until(time.Hour)})
}
