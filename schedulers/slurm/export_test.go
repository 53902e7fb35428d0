package slurm

// RunCommand is for tests that listen in.
var RunCommand = runCommand
