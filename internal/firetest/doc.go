// Package firetest holds the tests of admission on a real server, under fire: worker
// processes are killed, owners terminated, books continued as new and servers
// restarted, while the work that is done under permits counts itself.
//
// What is held on such a day is judged by the work alone ([gauge] in these tests),
// never by the book: a book that miscounts would agree with itself. What is left
// behind is judged by the book, after the leases have run out.
package firetest
