package web

import (
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// shownTrainings is how many runs the page lists, and logTail how many bytes of a
// log it shows.
const (
	shownTrainings = 50
	logTail        = 64 << 10
)

// trainingsData is what the page of the trainings shows.
type trainingsData struct {
	Trainings []trainingView
	Operator  bool
}

type trainingView struct {
	Training
	Took string
}

func (w *Web) trainings(v visit) error {
	all, err := w.services.Trainings.Trainings(v.r.Context(), shownTrainings)
	if err != nil {
		return err
	}
	data := trainingsData{Operator: v.viewer.Operator}
	for _, t := range all {
		data.Trainings = append(data.Trainings, trainingViewOf(t, w.cfg.Now()))
	}
	return v.show(frame{Page: "trainings", Title: "Trainings", Section: "/trainings", Live: true, Data: data})
}

func trainingViewOf(t Training, now segue.Time) trainingView {
	if !known(t.Ended) {
		return trainingView{t, span(max(0, now.Sub(t.Started)).Truncate(time.Second)) + " so far"}
	}
	return trainingView{t, span(max(0, t.Ended.Sub(t.Started)))}
}

// logData is what the page of a training shows.
type logData struct {
	Run  trainingView
	Log  part[string]
	Size int64
	Cut  bool
}

func (w *Web) trainingLog(v visit) error {
	ctx, id := v.r.Context(), v.r.PathValue("id")
	all, err := w.services.Trainings.Trainings(ctx, 1000)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t Training) bool { return t.ID == id })
	if i < 0 {
		return segue.Errorf(segue.NotFound, "there is no training %q", id)
	}
	data := logData{Run: trainingViewOf(all[i], w.cfg.Now())}
	data.Log = load(v, "log", func() (string, error) {
		tail, size, err := w.services.Trainings.Log(ctx, id, logTail)
		data.Size, data.Cut = size, size > int64(len(tail))
		return strings.ToValidUTF8(string(tail), "\ufffd"), err
	})
	return v.show(frame{Page: "training", Title: "Training " + id, Section: "/trainings", Live: true, Data: data})
}
