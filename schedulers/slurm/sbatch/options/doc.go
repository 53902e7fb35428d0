// Package options reads a command line of sbatch as getopt_long does there: it
// knows the options of Slurm 22.05 to 25.11 and their arity, and finds the
// batch script among the arguments.
//
// It says what is there and never what it means; it never refuses a command
// line, since sbatch itself does, and since plugins of a site add options that
// nobody else knows. It imports next to nothing, because the wrapper reads every
// command line before it does anything else.
//
// Start reading at getopt.go, then table.go.
package options
