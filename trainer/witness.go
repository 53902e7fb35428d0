package trainer

import (
	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// witness writes down what can be seen of a simulated cluster.
type witness struct {
	cluster *simulator.Sim
	history *predictor.History
}

func (w *witness) Submitted(simulator.Ref, segue.Time) {}

func (w *witness) Started(ref simulator.Ref, at segue.Time) {
	q := w.cluster.Job(ref)
	w.history.Start(&q, at)
}

func (w *witness) Ended(ref simulator.Ref, start, at segue.Time) {
	q := w.cluster.Job(ref)
	w.history.End(&q, start, at)
}
