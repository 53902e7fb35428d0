package learned

import (
	"fmt"
	"slices"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/drift"
)

// DriftFile is the name of the bytes that say what training saw. A model without
// them never stands aside.
const DriftFile = "drift.json"

// Watched returns the names of the features that drift is told by. Left out are
// those of the user's other jobs: training knows one chain at a time, whose user
// has no others, and a user who has some is no reason for mistrust. So is the
// number of jobs that are not eligible: they compete with nobody, and simulations
// leave them out.
func Watched() []string {
	return slices.DeleteFunc(predictor.FeatureNames(), func(name string) bool { return !watched(name) })
}

func watched(name string) bool {
	return !strings.HasPrefix(name, "own.") && name != "pending.held_log"
}

// watchedColumns are the places of Watched among the features.
var watchedColumns = func() []int {
	var columns []int
	for i, name := range predictor.FeatureNames() {
		if watched(name) {
			columns = append(columns, i)
		}
	}
	return columns
}()

// AppendWatched appends the watched ones of the features to row and returns it.
func AppendWatched(row, features []float32) []float32 {
	for _, column := range watchedColumns {
		row = append(row, features[column])
	}
	return row
}

// Familiar reports whether the features of a predictor.Describer are like those
// of training, and if not, why in words. It may be called by several goroutines.
func (m *Model) Familiar(features []float32) (ok bool, why string) {
	if m.Drift == nil {
		return true, ""
	}
	if why := m.asked(features); why != "" {
		return false, why
	}
	row := make([]float32, len(m.Drift.Features))
	for i, f := range m.Drift.Features {
		row[i] = features[featurePlaces[f.Name]]
	}
	return m.Drift.Check(row)
}

// asked returns what the request has of which training saw one value only, and
// that is less than half or more than twice as much; empty for nothing. A queue
// may be somewhat different, but a model that was trained for links of two days
// says nothing of a job of two hours.
func (m *Model) asked(features []float32) string {
	for _, f := range m.Drift.Features {
		v := float64(features[featurePlaces[f.Name]])
		if strings.HasPrefix(f.Name, "request.") && f.Min == f.Max && f.Missing < 1 && (v < f.Min/2 || v > 2*f.Max) {
			return fmt.Sprintf("%s is %.4g, training knew %.4g only", f.Name, v, f.Min)
		}
	}
	return ""
}

// featurePlaces are the places of the features by name.
var featurePlaces = func() map[string]int {
	places := map[string]int{}
	for i, name := range predictor.FeatureNames() {
		places[name] = i
	}
	return places
}()

// readDrift reads the profile in a model's bytes. It may be of any of the
// features, in any order: which of them tell drift was decided in training.
func readDrift(text []byte) (*drift.Profile, error) {
	profile, err := drift.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", DriftFile, err)
	}
	for _, f := range profile.Features {
		if _, known := featurePlaces[f.Name]; !known {
			return nil, segue.Errorf(segue.Invalid, "%s: the profile is of a feature %q that this program does not compute: train the model anew", DriftFile, f.Name)
		}
	}
	return profile, nil
}
