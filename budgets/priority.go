package budgets

import "time"

// DefaultMaxAge is Slurm's default of PriorityMaxAge.
const DefaultMaxAge = 7 * 24 * time.Hour

// Weights are Slurm's PriorityWeight settings: how much each factor of a job's
// priority counts.
type Weights struct {
	Age       float64
	FairShare float64
	JobSize   float64
	Partition float64
	QOS       float64
	// MaxAge is the age at which the age factor reaches 1; 0 is DefaultMaxAge.
	MaxAge time.Duration
	// FavorSmall turns the job size factor round (PriorityFavorSmall).
	FavorSmall bool
}

// Factors describe one job to Weights.Priority. All but Age and Nice are in
// [0, 1].
type Factors struct {
	// Age is how long the job has been eligible; a job that waits for another
	// one to end does not age.
	Age       time.Duration
	FairShare float64 // from Tree.Factors or Tree.ClassicFactors
	JobSize   float64 // from JobSizeFactor
	Partition float64
	QOS       float64
	Nice      int64 // what the user gives away; negative asks for more
}

// Priority returns the multifactor priority of a job:
//
//	wAge*min(1, age/MaxAge) + wFS*fs + wJS*js + wPart*p + wQOS*q - nice
//
// rounded down and never below 1, which is what Slurm keeps 0 (held) apart by.
// JobSize counts as 1-JobSize under FavorSmall.
func (w Weights) Priority(f Factors) int64 {
	maxAge := w.MaxAge
	if maxAge <= 0 {
		maxAge = DefaultMaxAge
	}
	size := f.JobSize
	if w.FavorSmall {
		size = 1 - size
	}
	sum := w.Age*min(1, float64(max(f.Age, 0))/float64(maxAge)) +
		w.FairShare*f.FairShare +
		w.JobSize*size +
		w.Partition*f.Partition +
		w.QOS*f.QOS
	return max(1, int64(sum-float64(f.Nice)))
}

// Size is an amount of nodes and of processors over all of them.
type Size struct{ Nodes, CPUs int }

// JobSizeFactor returns how much of the cluster a job asks for, in [0, 1]:
// (nodes/cluster nodes + CPUs/cluster CPUs)/2, or the nodes alone where the
// history does not count processors. Slurm's page on priorities promises 1 to a
// single-node job under FavorSmall; its code, followed here, gives it
// 1 - 1/cluster nodes.
func JobSizeFactor(job, cluster Size) float64 {
	factor := part(job.Nodes, cluster.Nodes)
	if job.CPUs > 0 && cluster.CPUs > 0 {
		factor = (factor + part(job.CPUs, cluster.CPUs)) / 2
	}
	return factor
}

func part(of, whole int) float64 {
	if of <= 0 || whole <= 0 {
		return 0
	}
	return min(1, float64(of)/float64(whole))
}
