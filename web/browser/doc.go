// Package browser has no code of its own: its test visits the dashboard of a real
// server in a real Chromium, as people do, and takes pictures. Start reading at
// browser_test.go, then at visit.mjs, which is what the browser does.
package browser
