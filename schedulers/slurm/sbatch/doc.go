// Package sbatch understands a submission as sbatch does: from the arguments,
// the environment and the text of the batch script it tells what every option
// is and where it came from, what the job asks for, and on what terms it is a
// chain. It also builds the submissions of later links, and reads what sbatch
// prints.
//
// It parses in order to understand, and never to say the same in other words:
// what the user typed goes to the real sbatch as it is. It runs nothing, opens
// nothing and reads no clock. What it cannot be sure of it lists in
// [Job.Unsure], and Segue leaves such a job alone.
//
// The rules are those of Slurm 22.05 to 25.11; the tests compare them with the
// real sbatch. Start reading at job.go, then settings.go and directives.go. The
// folder options holds the command line's grammar.
package sbatch
