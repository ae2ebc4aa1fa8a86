// Package admittertest holds what every [permits.Admitter] promises, as tests.
//
//	admittertest.Run(t, func(t *testing.T, limits admission.Limits) admittertest.Setup { … })
//
// Each test gets a domain of its own with the limits it needs. Leases in it are
// short, and tests wait for what must happen, however long that takes.
package admittertest
