// Package passthrough replaces the process by the real sbatch when the program
// is called as sbatch ("segue sbatch", or a link named sbatch) for a job that is
// no chain: with the same arguments, environment, working directory and standard
// input, and before anything else happens.
//
// It works while the program is being initialised, since the initialisation of
// everything else that segue links takes milliseconds, as sbatch itself does. Go
// initialises packages in the order of their paths as soon as what they import
// is ready. This one needs no more than os, not even strings, and so comes
// before all that is large.
//
// It parses nothing that could fail and prints nothing. What may be a chain it
// leaves to the command, and so everything that is not called as sbatch. Start
// reading at passthrough.go.
package passthrough
