// Package budgets holds the arithmetic of fair share: who is owed a turn on
// the cluster, judged by what everybody used before.
//
// It follows Slurm's priority/multifactor plugin, whose rules users know:
//
//   - a [Tree] of accounts and users with their shares, compiled once and
//     immutable;
//   - a [Usage], the decayed history of what they used: small, mutable, copied
//     with every fork of a simulation;
//   - [Tree.Factors], Fair Tree's rank of each user (the default of Slurm since
//     19.05), and [Tree.ClassicFactors], the older formula (NO_FAIR_TREE);
//   - [Weights], which adds the factors up to a job's priority.
//
// One thing is done better than there. Slurm multiplies usage by
// 1 - 0.693/half-life once a second, in steps of PriorityCalcPeriod; Usage takes
// the exact integral of the exponential decay, so that the result does not
// depend on how an interval was cut up. Over one half-life of seven days the two
// differ by 0.015 %, over one step of five minutes by 0.017 %.
//
// The package does no I/O, reads no clock and knows nothing of jobs, queues or
// nodes. Ranking allocates nothing.
//
// Start reading at tree.go, then usage.go and fairtree.go.
package budgets
