// Package pgtest starts a private PostgreSQL for tests, in a folder of its own and
// on a Unix socket in it. It ends with the test process, however that ends.
//
// It knows nothing of the store. Start reading at Server.
package pgtest
