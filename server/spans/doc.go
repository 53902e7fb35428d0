// Package spans tells an OpenTelemetry collector what a server was busy with: a span
// for each request, as a child of the caller's where the caller has one, and for
// each round of the loops. It speaks OTLP over HTTP, in JSON (OTLP 1.x), and W3C Trace
// Context (traceparent).
//
// The exporter of OpenTelemetry's library (otlptracehttp v1.47.0) brings gRPC and
// Protocol Buffers along: a program of it alone has 20.1 MB, one that asks by net/http
// and writes JSON 8.7 MB. This package is 400 lines instead. It never holds a
// request up: spans that the collector does not take are counted and lost. A nil
// Recorder records nothing. Start reading at Recorder.
package spans
