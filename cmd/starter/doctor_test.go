package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
)

// An operator reads off these lines who gives permits and how full the books are.
func TestDoctorShowsBooks(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	checkup{Diagnosis: tidemill.Diagnosis{
		Dispatch: tidemill.DispatchDiagnosis{Priority: tidemill.DispatchOn, Fairness: tidemill.DispatchUnknown},
		Admission: tidemill.AdmissionDiagnosis{
			On: true, TaskQueue: "orders.admission", WorkflowPollers: 2,
			Books: []tidemill.BookDiagnosis{
				{Domain: "default", Status: &admission.Status{
					Active: 3, GlobalLimit: 256, Permits: 5, Queued: 12, MaxQueue: 1024, Version: 7, Paused: true, Draining: true,
				}},
				{Domain: "batch"},
			},
		},
	}}.text(&out)
	for _, want := range []string{
		`dispatch +by priority: cannot be told, on by default in this version; by flow: cannot be told\n`,
		`admission +on, 2 pollers of orders.admission for workflows\n`,
		`domain default +3 of 256 running, 5 permits held, 12 of 1024 waiting, limits version 7, paused, draining\n`,
		`domain batch +no answer\n`,
	} {
		require.Regexp(t, want, out.String())
	}
}
