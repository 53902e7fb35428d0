// Package traces reads and writes a cluster's job history: the Standard
// Workload Format, the Lonestar6 log of the Mirage project, the output of
// sacct -P, and Parquet (and writes CSV). A history becomes a stream of
// [segue.Job], and what was wrong with it becomes a [Report].
//
// Files are written by other programs, by scripts and by hand, so the package
// trusts nothing: a record that cannot be used is counted by [Reason] with an
// example of where it stands and never lost silently, and a file that is no
// history at all is refused with what was expected and what was seen.
// docs/job-history.md lists the treatment of every case.
//
// A [Reader] holds one line, one page of Parquet, a bounded memory of job ids
// and the unended jobs seen so far; it never loads the file. The package never
// reads a clock, never talks to a scheduler and never prints.
//
//	file -> gzip? -> sniff -> line -> fields -> record -> settle -> once -> segue.Job
//	                                     |                  |        |
//	                                     +---- rejected ----+     skipped -> Report
//
// Start reading at reader.go, then settle.go (what every format's records have
// in common), then table.go (sacct and the Lonestar6 log) and swf.go.
package traces
