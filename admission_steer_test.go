package tidemill_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/admissiontest"
)

// A change that means nothing must be refused before anything has happened, with what
// is wrong and nothing else in the message.
func TestSteerRefusals(t *testing.T) {
	t.Parallel()
	w := idle(t)
	for _, test := range []struct {
		name   string
		change tidemill.AdmissionSteer
		says   string
	}{
		{"no action", tidemill.AdmissionSteer{}, `action ""; known are set-limit`},
		{"an unknown action", tidemill.AdmissionSteer{Action: "stop"}, `action "stop"; known are set-limit`},
		{"no key", tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Limit: 1}, "key: is empty"},
		{"a limit below none", tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: "a", Limit: -2}, "limit: is -2; it must lie between"},
		{"a huge limit", tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: "a", Limit: 1e9}, "limit: is 1000000000; it must lie between"},
		{"a long key", tidemill.AdmissionSteer{Action: tidemill.SteerPause, Key: strings.Repeat("k", 300)}, "key: has 300 bytes; at most 256"},
		{"a rate without a period", tidemill.AdmissionSteer{Action: tidemill.SteerRate, Key: "a", Rate: admission.Rate{Limit: 1}}, "rate.per: is 0s"},
		{"a drain of a key", tidemill.AdmissionSteer{Action: tidemill.SteerDrain, Key: "a"}, "drain takes no key"},
		{"wrong limits", tidemill.AdmissionSteer{Action: tidemill.SteerLimits, Limits: admission.Limits{Global: -1}}, "global: is -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.runs.SteerAdmission(t.Context(), w.queue+"-none", test.change)
			require.Equal(t, tidemill.ErrTypeInvalidAdmission, tidemill.ErrorType(err), "%v", err)
			require.ErrorContains(t, err, "tidemill: invalid_admission: "+test.says)
		})
	}
}

// A change acts at once, twice is once, and taking it back leaves the configuration.
func TestSteerAdmission(t *testing.T) {
	t.Parallel()
	w := idle(t)
	books := admissiontest.New(t, w.server, w.queue)
	books.Submit(t, w.queue, paying(1), admissiontest.Request("a", payments), admissiontest.Request("b", payments))
	steer := func(change tidemill.AdmissionSteer) admission.Status {
		t.Helper()
		status, err := w.runs.SteerAdmission(t.Context(), w.queue, change)
		require.NoError(t, err)
		return status
	}
	// A pause keeps what the greater limit would let pass.
	require.Equal(t, []string{payments}, steer(tidemill.AdmissionSteer{Action: tidemill.SteerPause, Key: payments}).PausedKeys)
	require.Equal(t, 1, steer(tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: payments, Limit: 2}).Queued)
	require.Equal(t, 2, steer(tidemill.AdmissionSteer{Action: tidemill.SteerResume, Key: payments}).Permits)
	require.Equal(t, 2, steer(tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: payments, Limit: 2}).Keys[0].Limit)
	require.Equal(t, 1, steer(tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: payments, Limit: admission.None}).Keys[0].Limit)

	rate := admission.Rate{Limit: 5, Per: time.Minute, Burst: 2}
	steer(tidemill.AdmissionSteer{Action: tidemill.SteerRate, Key: "resource:mail", Rate: rate})
	steer(tidemill.AdmissionSteer{Action: tidemill.SteerLimit, Key: "resource:later", Limit: 4})
	view, err := w.runs.AdmissionStatus(t.Context(), w.queue)
	require.NoError(t, err)
	require.Equal(t, admission.Overrides{
		Limits: []admission.KeyLimit{{Key: "resource:later", Limit: 4}},
		Rates:  []admission.KeyRate{{Key: "resource:mail", Rate: rate}},
	}, view.Overrides, "limits may be set ahead of their first use")

	require.True(t, steer(tidemill.AdmissionSteer{Action: tidemill.SteerDrain}).Draining)
	require.True(t, steer(tidemill.AdmissionSteer{Action: tidemill.SteerDrain}).Draining)
	require.False(t, steer(tidemill.AdmissionSteer{Action: tidemill.SteerResume}).Draining)
}
