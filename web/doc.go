// Package web is the dashboard of a server: what it knows, what it decided and why,
// as pages that are made on the server. They load nothing from elsewhere, work
// without a script, and with one show what changes. Drawings are those of package
// reports, each with its numbers in a table.
//
// It decides nothing and keeps nothing but the key of its sessions: what it shows it
// asks through the small interfaces of service.go, and whoever builds a server fills
// them. What it does itself is who may see what (a user own chains, an operator all),
// sessions (session.go), what a browser may do with a page (guard.go), and the words
// (words.go, explain.go).
//
// Start reading at web.go, which lists the pages, then at overview.go.
package web
