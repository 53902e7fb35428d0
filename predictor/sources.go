package predictor

import "github.com/segue-project/segue/simulator"

// Sources are the names of the forecasters that features are made from. Told
// should hold one forecast of each; those that are missing are missing features.
func Sources() []string {
	return []string{"recent", "recent-shape", "forward-limits", "forward-last-two", "forward-learned", "monte-carlo"}
}

// recentJobs is the number of latest waits that recent and recent-shape look at.
const recentJobs = 100

// NewSources returns the forecasters of Sources, in that order, which simulate
// the scheduler of cluster. It is the only definition of them, for training and
// for serving.
func NewSources(cluster simulator.Config, monte MonteCarloConfig) ([]Forecaster, error) {
	list := []Forecaster{NewRecent(recentJobs), NewRecentShape(recentJobs)}
	for _, runs := range []RunTimes{Limits{}, LastTwo{}, &Learned{}} {
		f, err := NewForward(cluster, runs)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	f, err := NewMonteCarlo(cluster, monte)
	if err != nil {
		return nil, err
	}
	return append(list, f), nil
}
