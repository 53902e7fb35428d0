package xgboost_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/trainer/xgboost"
)

// twoTrees is what libxgboost 1.7.4 saved after two rounds of depth 2.
func twoTrees(t testing.TB) []byte {
	t.Helper()
	doc, err := os.ReadFile("testdata/two-trees-1.7.4.json")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// edited returns twoTrees with the value at a path like "learner.trees.0"
// replaced; "trees" stands for the list of trees, wherever that is.
func edited(t testing.TB, path string, value any) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(twoTrees(t), &doc); err != nil {
		t.Fatal(err)
	}
	path = strings.Replace(path, "trees", "learner.gradient_booster.model.trees", 1)
	steps := strings.Split(path, ".")
	at := doc
	for _, step := range steps[:len(steps)-1] {
		at = child(at, step)
	}
	switch parent := at.(type) {
	case map[string]any:
		parent[steps[len(steps)-1]] = value
	case []any:
		i, err := strconv.Atoi(steps[len(steps)-1])
		if err != nil {
			t.Fatal(err)
		}
		parent[i] = value
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func child(of any, step string) any {
	if list, ok := of.([]any); ok {
		i, err := strconv.Atoi(step)
		if err != nil {
			return nil
		}
		return list[i]
	}
	return of.(map[string]any)[step]
}

func ensemble(t testing.TB, doc []byte) *trees.Ensemble {
	t.Helper()
	data, err := xgboost.Export(doc)
	if err != nil {
		t.Fatal(err)
	}
	e, err := trees.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExportGivesTheMarginsOfLibxgboost(t *testing.T) {
	t.Parallel()
	e := ensemble(t, twoTrees(t))
	missing := float32(math.NaN())
	tests := []struct {
		row  []float32
		want float64 // libxgboost's
	}{
		{[]float32{0, 0}, 4.757882},
		{[]float32{3, missing}, 6.004668}, // on the second tree's threshold, and missing
		{[]float32{5, 0}, 7.93836},        // on the first tree's threshold
		{[]float32{7, 0}, 7.93836},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, e.Margin(test.row), cmpopts.EquateApprox(1e-6, 0)); diff != "" {
			t.Errorf("margin of %v (-want +got):\n%s", test.row, diff)
		}
	}
}

func TestBaseScoreBecomesAMargin(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		objective, baseScore string
		want                 float64
		wantKind             segue.Kind
	}{
		"squared error":            {xgboost.SquaredError, "1.3625E1", 13.625, segue.Other},
		"absolute error":           {xgboost.AbsoluteError, "-2", -2, segue.Other},
		"even odds":                {xgboost.Logistic, "5E-1", 0, segue.Other},
		"a probability":            {xgboost.Logistic, "9E-1", math.Log(9), segue.Other},
		"a time":                   {xgboost.AFT, "1E2", math.Log(100), segue.Other},
		"as XGBoost 3.1 writes it": {xgboost.SquaredError, "[1.3625E1]", 13.625, segue.Other},
		"certainty":                {xgboost.Logistic, "1", 0, segue.Corrupt},
		"no probability":           {xgboost.Logistic, "2", 0, segue.Corrupt},
		"no time":                  {xgboost.AFT, "0", 0, segue.Corrupt},
		"no number":                {xgboost.SquaredError, "NaN", 0, segue.Corrupt},
		"two outputs":              {xgboost.SquaredError, "[1,2]", 0, segue.Corrupt},
		"nothing":                  {xgboost.SquaredError, "", 0, segue.Corrupt},
		"an unknown objective":     {"count:poisson", "5E-1", 0, segue.Invalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := edited(t, "learner.learner_model_param.base_score", test.baseScore)
			doc = []byte(strings.Replace(string(doc), xgboost.SquaredError, test.objective, 1))
			data, err := xgboost.Export(doc)
			if segue.KindOf(err) != test.wantKind {
				t.Fatalf("error is %v, want one of kind %v", err, test.wantKind)
			}
			if err != nil {
				return
			}
			e, err := trees.Read(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, e.Base(), cmpopts.EquateApprox(1e-6, 1e-7)); diff != "" {
				t.Errorf("base margin (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrunedNodesAreLeftBehind(t *testing.T) {
	t.Parallel()
	// Pruning leaves the two leaves below node 2 in the lists.
	doc := edited(t, "trees.0.left_children", []int{1, 3, -1, -1, -1, -1, -1})
	e := ensemble(t, doc)
	row := []float32{0, 7}
	if got, want := e.PerTree(row, nil)[0], float64(float32(4)); got != want {
		t.Errorf("the pruned tree gives %v, want %v", got, want)
	}
}

func TestModelThatLeavesCannotExpressIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path  string
		value any
		want  segue.Kind
	}{
		"dart":                     {"learner.gradient_booster.name", "dart", segue.Invalid},
		"a linear model":           {"learner.gradient_booster.name", "gblinear", segue.Invalid},
		"three classes":            {"learner.learner_model_param.num_class", "3", segue.Invalid},
		"two targets":              {"learner.learner_model_param.num_target", "2", segue.Invalid},
		"a tree of another output": {"learner.gradient_booster.model.tree_info.1", 1, segue.Invalid},
		"a split of categories":    {"trees.0.split_type.1", 1, segue.Invalid},
		"categories":               {"trees.0.categories_nodes", []int{0}, segue.Invalid},
		"no features":              {"learner.learner_model_param.num_feature", "0", segue.Invalid},
		"4 billion features":       {"learner.learner_model_param.num_feature", "4000000000", segue.Invalid},
		"fewer outputs than trees": {"learner.gradient_booster.model.tree_info", []int{0}, segue.Corrupt},
		"no trees":                 {"trees", []any{}, segue.Corrupt},
		"no nodes":                 {"trees.0", map[string]any{}, segue.Corrupt},
		"a list cut short":         {"trees.0.right_children", []int{2, 4}, segue.Corrupt},
		"a list with more":         {"trees.0.split_indices", []int{1, 0, 0, 0, 0, 0, 0, 0}, segue.Corrupt},
		"no loss changes":          {"trees.0.loss_changes", nil, segue.Corrupt},
		"a feature beyond the row": {"trees.0.split_indices.1", 2, segue.Corrupt},
		"a feature below the row":  {"trees.0.split_indices.1", -1, segue.Corrupt},
		"a child beyond the tree":  {"trees.0.right_children.1", 7, segue.Corrupt},
		"a child below the tree":   {"trees.0.right_children.1", -1, segue.Corrupt},
		"a child that leads back":  {"trees.0.left_children.1", 0, segue.Corrupt},
		"a child of two":           {"trees.0.left_children.1", 5, segue.Corrupt},
		"a list of words":          {"trees.0.split_indices", "words", segue.Corrupt},
		"too large a value":        {"trees.0.split_conditions.3", 1e300, segue.Corrupt},
		"nothing below it":         {"trees.0.split_conditions.0", -math.MaxFloat32, segue.Corrupt},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := xgboost.Export(edited(t, test.path, test.value))
			if segue.KindOf(err) != test.want {
				t.Errorf("error is %v, want one of kind %v", err, test.want)
			}
		})
	}
}

func TestWhatIsNoModelIsRefused(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "null", "{}", "[]", "binf", `{"learner": {"gradient_booster": []}}`} {
		if _, err := xgboost.Export([]byte(doc)); err == nil {
			t.Errorf("%q was exported", doc)
		}
		if _, err := xgboost.Importance([]byte(doc)); err == nil {
			t.Errorf("%q has important features", doc)
		}
	}
}

func TestImportanceIsTheShareOfTheGain(t *testing.T) {
	t.Parallel()
	got, err := xgboost.Importance(twoTrees(t))
	if err != nil {
		t.Fatal(err)
	}
	// The sums of the file's loss changes by feature.
	first := 6.313379e1 + 8.546848e3 + 3.8293213e1 + 3.1408743e3
	second := 1.2835058e4 + 3.705985e3
	want := []float64{first / (first + second), second / (first + second)}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Errorf("importance (-want +got):\n%s", diff)
	}
}

// stump is a model of one split, short enough to be fuzzed well.
const stump = `{"learner":{"gradient_booster":{"name":"gbtree","model":{"tree_info":[0],"trees":[` +
	`{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[1,0,0],"split_conditions":[5E0,1E0,2E0],` +
	`"split_type":[0,0,0],"default_left":[1,0,0],"loss_changes":[9E0,0E0,0E0],"categories_nodes":[]}]}},` +
	`"learner_model_param":{"base_score":"5E-1","num_class":"0","num_feature":"2","num_target":"1"},` +
	`"objective":{"name":"survival:aft"}}}`

// FuzzExport wants whatever is exported to be readable.
func FuzzExport(f *testing.F) {
	f.Add([]byte(stump))
	f.Add([]byte(`{}`))
	f.Add([]byte(strings.Replace(stump, "[1,-1,-1]", "[0,-1,-1]", 1)))
	f.Add([]byte(strings.Replace(stump, "[1,0,0]", "[2,-1,0]", 1)))
	f.Add([]byte(strings.Replace(stump, "5E-1", "[-1]", 1)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		data, err := xgboost.Export(doc)
		if err != nil {
			if kind := segue.KindOf(err); kind != segue.Invalid && kind != segue.Corrupt {
				t.Errorf("error %v is of kind %v", err, kind)
			}
			return
		}
		e, err := trees.Read(data)
		if err != nil {
			t.Fatalf("exported, but not readable: %v", err)
		}
		if margin := e.Margin(make([]float32, e.Features())); math.IsNaN(margin) {
			t.Errorf("the margin is NaN")
		}
		if _, err := xgboost.Importance(doc); err != nil {
			t.Errorf("exported, but: %v", err)
		}
	})
}
