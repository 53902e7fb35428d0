package xgboost

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
)

// document is the part of XGBoost's JSON model that matters here, after
// doc/model.schema of its sources. Numbers of its parameter blocks are strings.
type document struct {
	Learner struct {
		Parameters struct {
			BaseScore string `json:"base_score"`
			Classes   string `json:"num_class"`
			Features  string `json:"num_feature"`
			Targets   string `json:"num_target"`
		} `json:"learner_model_param"`
		Objective struct {
			Name string `json:"name"`
		} `json:"objective"`
		Booster struct {
			Name  string `json:"name"`
			Model struct {
				Trees    []jsonTree `json:"trees"`
				TreeInfo []int32    `json:"tree_info"` // the output that each tree adds to
			} `json:"model"`
		} `json:"gradient_booster"`
	} `json:"learner"`

	features int
	base     float32 // margin before the first tree
}

func (d *document) trees() []jsonTree { return d.Learner.Booster.Model.Trees }

// parse reads the document and refuses kinds of models that a single sum of
// numerical trees cannot express.
func parse(modelJSON []byte) (*document, error) {
	d := new(document)
	if err := json.Unmarshal(modelJSON, d); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "this is no JSON model of XGBoost: %w", err)
	}
	parameters := &d.Learner.Parameters
	if name := d.Learner.Booster.Name; name != "gbtree" {
		return nil, segue.Errorf(segue.Invalid, "the booster is %.40q, want gbtree", name)
	}
	if !oneOrUnset(parameters.Classes) || !oneOrUnset(parameters.Targets) {
		return nil, segue.Errorf(segue.Invalid, "%.20q classes and %.20q targets: want a single output",
			parameters.Classes, parameters.Targets)
	}
	if len(d.trees()) != len(d.Learner.Booster.Model.TreeInfo) {
		return nil, segue.Errorf(segue.Corrupt, "%d trees, but the outputs of %d", len(d.trees()), len(d.Learner.Booster.Model.TreeInfo))
	}
	for i, output := range d.Learner.Booster.Model.TreeInfo {
		if output != 0 {
			return nil, segue.Errorf(segue.Invalid, "tree %d adds to output %d: want a single output", i, output)
		}
	}
	for i := range d.trees() {
		if d.trees()[i].categorical() {
			return nil, segue.Errorf(segue.Invalid, "tree %d splits by category: want numerical splits", i)
		}
	}
	var err error
	d.features, err = strconv.Atoi(parameters.Features)
	if err != nil || d.features < 1 || d.features > trees.MaxFeatures {
		return nil, segue.Errorf(segue.Invalid, "%.20q features, want 1 to %d", parameters.Features, trees.MaxFeatures)
	}
	d.base, err = baseMargin(d.Learner.Objective.Name, parameters.BaseScore)
	return d, err
}

func oneOrUnset(count string) bool { return count == "" || count == "0" || count == "1" }

// baseMargin returns the margin before the first tree. XGBoost stores it as a
// prediction, base_score, and applies the inverse of the objective's link to it
// (ObjFunction::ProbToMargin).
func baseMargin(objective, baseScore string) (float32, error) {
	// XGBoost 3.1 and later write a list, with one value for each output.
	baseScore = strings.TrimSuffix(strings.TrimPrefix(baseScore, "["), "]")
	base, err := strconv.ParseFloat(baseScore, 32)
	if err != nil {
		return 0, segue.Errorf(segue.Corrupt, "base_score %.40q is no number", baseScore)
	}
	margin := base
	switch objective {
	case SquaredError, AbsoluteError:
	case Logistic:
		margin = math.Log(base / (1 - base))
	case AFT:
		margin = math.Log(base)
	default:
		return 0, segue.Errorf(segue.Invalid, "objective %.40q: how its base_score becomes a margin is not known here", objective)
	}
	if math.IsNaN(margin) || math.IsInf(margin, 0) {
		return 0, segue.Errorf(segue.Corrupt, "base_score %.40q is out of the range of %s", baseScore, objective)
	}
	return float32(margin), nil
}
