// Package admissiontest asks the books of admission for permits, the way workers do,
// without any run.
//
//	books := admissiontest.New(t, server, queue)
//	books.Submit(t, "shop", limits, admissiontest.Request("order-7", "resource:payments"))
package admissiontest
