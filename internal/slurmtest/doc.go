// Package slurmtest starts a real Slurm for tests: Debian's programs, in a private
// folder with its own configuration, munge key, sockets, ports and database,
// with as many virtual nodes with GPUs as wanted, and with slurmdbd and slurmrestd
// where they are wanted. Nothing outside of the folder changes, and Stop, or the end of the test, stops every process.
//
// It is for tests and for nothing else. Start reading at slurm.go.
package slurmtest
