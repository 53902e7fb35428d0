// Package entry is where the kernel enters segue in builds that are linked with
// "-E" and the symbol of start (scripts/lib.sh does so on linux/amd64): before
// the Go runtime, whose start takes a program of this size a third of the time
// that sbatch itself takes.
//
// It does for the plain cases what package passthrough does for all: when the
// program is called as sbatch, the command line holds nothing that needs a second
// look, and the script is a file without "#SEGUE" lines, it calls execve for the
// real sbatch. In any doubt, and for everything else, it goes on to the start of
// the Go runtime as if it had not been there. In builds without "-E" the linker
// leaves it out.
//
// Its code runs without a runtime: on the first stack, without goroutines, heap,
// package initialisation or checks of the stack. Every function is therefore
// nosplit, all memory is laid down by the linker, and all that is called from
// outside is the option table. Start reading at start_linux_amd64.s, then
// early_linux_amd64.go.
package entry
