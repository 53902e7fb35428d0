// Package spelling reads what Slurm writes, in whatever form it comes: times,
// limits, exit statuses, states, lists of resources and of nodes, and what its
// messages say of a request. The drivers over Slurm's commands and over its REST
// API share it.
//
// It asks nothing and decides nothing. Start reading at fields.go, then states.go
// and messages.go.
package spelling
