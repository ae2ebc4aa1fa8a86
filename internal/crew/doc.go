// Package crew runs worker processes that are meant to be killed: a worker that ends as
// in a power cut must be a process of its own.
//
// A member is the running program itself, started anew with an environment variable that
// says what it is to do. So the program, or its TestMain, looks at the variable first:
//
//	if setup := os.Getenv(variable); setup != "" {
//		work(setup) // until it is killed
//	}
package crew
