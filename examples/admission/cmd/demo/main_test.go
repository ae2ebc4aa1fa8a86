package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/examples/admission"
)

// The table is what the example is for: its rows must be there, and say what the
// text beside them says.
func TestDemoShowsTheDifference(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, admission.Flood(20, 10)), &out)
	for _, row := range []string{
		`no limits +40 calls, of which 40 before the service went on`,
		`act2-initech-10 waits for a permit: resource:geocoder`,
		`calls at a time, at most +40 +4 +4\n`,
		`calls ahead of the rate, at most +\d+ +0 +0\n`,
		`share of acme while all wait +– +([5-9]\d|100) % +[234]\d %\n`,
		`share of initech while all wait +– +1?\d % +[234]\d %\n`,
		`last call of initech, after +0\.0 s +\d+\.\d s +\d+\.\d s\n`,
	} {
		require.Regexp(t, row, out.String())
	}
}
