// Package api is the REST interface of a server: advice on when to submit, chains
// and why they are where they are, histories, forecasts, models, and a stream of
// changes. It is described by OpenAPI, which the code generates.
//
// It decides nothing and keeps nothing: what it needs of the rest of the house it
// names in small interfaces (service.go), and whoever builds a server fills them.
// What it does itself is who may do what (caller.go, auth.go), what a request may
// take (limits.go), that every write leaves a line in the audit log and is done
// once (write.go), and how errors look (problem.go).
//
// Start reading at api.go, which lists the operations, then at advice.go.
package api
