// Package temporaltest gives integration tests a real Temporal server.
//
// A test package starts one server, when its first test asks for it, and shares
// it among its tests; a task queue of its own keeps each test apart.
//
//	var temporal = temporaltest.NewShared(devserver.Options{})
//
//	func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }
//
//	func TestPing(t *testing.T) {
//		t.Parallel()
//		server := temporal.Server(t)
//		c := server.Client(t)
//		queue := server.TaskQueue(t)
//		server.Worker(t, c, queue, worker.Options{}, func(r worker.Registry) { r.RegisterWorkflow(Ping) })
//		…
//	}
//
// A test that needs other options, or that stops its server, calls [Start]. What
// a run did is read from its history: [History], [Count], [Tasks].
//
// Before a server is stopped, every history on it is held against [Audit].
package temporaltest
