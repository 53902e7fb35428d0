//go:build native

package learning

import (
	"fmt"
	"time"

	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor/drift"
	"github.com/segue-project/segue/trainer"
)

// profileEvery is the distance of the leads whose features make the profile:
// neighbours look alike.
const profileEvery = 6 * time.Hour

// profileOf returns what the streams' episodes show of the watched features:
// what the model will have seen.
func profileOf(streams []trainer.Stream) (*drift.Profile, error) {
	var rows []float32
	for _, s := range samplesOf(streams, profileEvery) {
		rows = learned.AppendWatched(rows, s.features)
	}
	profile, err := drift.Fit(rows, learned.Watched(), drift.Config{})
	if err != nil {
		return nil, fmt.Errorf("profile of the training features: %w", err)
	}
	return profile, nil
}
