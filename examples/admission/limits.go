package admission

import (
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
)

// What the service takes. Its owner says so; it does not defend itself.
const (
	MostAtOnce = 4  // calls at a time
	PerSecond  = 25 // calls a second
	Burst      = 25 // calls at once after a silence
)

// resource is the key of both limits.
const resource = "resource:geocoder"

// The tenants. The first is the one that floods the service.
const (
	Acme    = "acme"
	Globex  = "globex"
	Initech = "initech"
)

// Tenants are all of them.
func Tenants() []string { return []string{Acme, Globex, Initech} }

// Options are what a worker of the example is bound by: the limits of the service,
// and equal parts for the tenants. The file worker.yaml says the same.
func Options() *tidemill.AdmissionOptions {
	return &tidemill.AdmissionOptions{
		Limits: tidemill.AdmissionLimits{
			Keys:  []admission.KeyLimit{{Key: resource, Limit: MostAtOnce}},
			Rates: []admission.KeyRate{{Key: resource, Rate: admission.Rate{Limit: PerSecond, Per: time.Second, Burst: Burst}}},
		},
		Rules: tidemill.AdmissionRules{
			// Whose a run is comes from its lane; whatever is not known is one tenant.
			Partition: tidemill.AdmissionPartition{From: "${ run.lane.app }", Known: Tenants()},
			Rules: []tidemill.AdmissionRule{{
				When:  "action == '" + Action + "'",
				Keys:  []tidemill.AdmissionUnits{{Key: resource}},
				Rates: []tidemill.AdmissionUnits{{Key: resource}},
			}},
		},
	}
}
