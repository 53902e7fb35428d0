// Package rest drives Slurm through slurmrestd, its REST API: over TCP with a
// token, or over a Unix socket. It reads the JSON of Slurm 22.05 to 25.11, whose
// forms change with every version, by one decoder.
//
// The state costs two requests, however many chains there are. A record that
// cannot be read is counted, and its job is there with a state that is not known;
// an answer that is not whole, is not Slurm's, or lacks its list is an error, never
// an empty queue. What cannot be said of a submission is refused by the name of the
// option.
//
// The package never tries anything twice, keeps nothing on disk, and reads no
// environment. Start reading at driver.go, then client.go, decode.go and submit.go.
package rest
