// Package slurm drives Slurm by its commands: squeue and sinfo for the state,
// sacct for what has ended, sbatch to submit, scontrol and scancel for the rest.
// It works from Slurm 21.08 on, for any user, without an administrator's help.
//
// Output is asked for so that what users write into their jobs is no more than that,
// also where they mean it to be (queue.go and accounting.go say how); with times
// in seconds since the epoch, and an environment in which nobody's SQUEUE_FORMAT
// counts. A record that cannot be read is skipped and counted; an answer that is
// not whole is an error, never an empty queue.
//
// The package never tries anything twice: schedulers.Cluster does where that is
// safe. Start reading at driver.go, then queue.go and submit.go. What a user's
// sbatch line means is for the folder sbatch to say, and how Slurm spells things
// for spelling; rest is another driver, over Slurm's REST API.
package slurm
