// Package spans tells an OpenTelemetry collector what a server was busy with: a span
// for each request, as a child of the caller's where the caller has one (W3C Trace
// Context), and for each round of the loops. Recording, sampling and OTLP over HTTP
// are the work of OpenTelemetry's own library; this package is what a server wants
// of it: it never holds a request up, and says how many spans the collector never got.
//
// It touches none of the library's global registries, and a nil Recorder records
// nothing. docs/adr/0006-the-library-for-tracing.md says what the library costs.
// Start reading at Recorder.
package spans
