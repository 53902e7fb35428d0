// Package infer reads out of a cluster's job history what the history does not
// say: limits on a user's jobs, dependencies between jobs, how many nodes were
// in service, and when each job could first have run.
//
// Much of a recorded wait is not the queue's doing. A user who already runs as
// many jobs as allowed waits for one's own jobs; so does the next link of a
// chain. A replay that knows neither waits differently, and a forecast learned
// from such waits learns the user's habits. So the package looks for both:
//
//   - a limit shows as many users whose peak is exactly one number that nobody
//     passes, and as hours in which such users waited without a start;
//   - a dependency shows as a start right after another job of the same user
//     ended, more often than chance, where no limit explains it; names that
//     count on, the order of submission and overtaking jobs tell more;
//   - an order of the queue shows in who of two users with equal jobs went
//     first, beside the priorities that the scheduler recorded.
//
// Every finding carries its counts for and against and what chance alone would
// give; a finding that chance explains is not reported as found. They are
// inferences all the same: a cluster whose scheduler ran a user's jobs one
// after another for a reason not looked for here would show the same traces.
//
// The package is pure: it reads no files and no clock. Start reading at
// infer.go, then limits.go, chain.go and order.go.
package infer
