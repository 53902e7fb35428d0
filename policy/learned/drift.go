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

// Watched returns the names of the features that drift is told by: all but
// those of the user's other jobs. Training knows one chain at a time, whose user
// has no others; a user who has some is no reason for mistrust.
func Watched() []string {
	return slices.DeleteFunc(predictor.FeatureNames(), func(name string) bool { return !watched(name) })
}

func watched(name string) bool { return !strings.HasPrefix(name, "own.") }

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
	return m.Drift.Check(AppendWatched(make([]float32, 0, len(watchedColumns)), features))
}

// readDrift reads the profile in a model's bytes.
func readDrift(text []byte) (*drift.Profile, error) {
	profile, err := drift.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", DriftFile, err)
	}
	names := make([]string, len(profile.Features))
	for i, f := range profile.Features {
		names[i] = f.Name
	}
	if !slices.Equal(names, Watched()) {
		return nil, segue.Errorf(segue.Invalid, "%s: the profile is of other features than this program computes: train the model anew", DriftFile)
	}
	return profile, nil
}
