package xgboost

import (
	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
)

// Export returns the model that Booster.JSON gave in the format that
// predictor/trees reads. What that evaluates are margins: for "survival:aft"
// the logarithm of the time, for "binary:logistic" the logit.
//
// It knows the models that this package trains: a single output, numerical
// splits, booster gbtree. Others are refused with an error of kind Invalid, and
// a model whose parts do not fit together with one of kind Corrupt.
func Export(modelJSON []byte) ([]byte, error) {
	doc, err := parse(modelJSON)
	if err != nil {
		return nil, segue.Errorf(segue.KindOf(err), "export trees: %w", err)
	}
	m := trees.Model{
		Objective: doc.Learner.Objective.Name,
		Features:  doc.features,
		Base:      doc.base,
	}
	for i := range doc.trees() {
		tree, err := doc.trees()[i].tree(doc.features)
		if err != nil {
			return nil, segue.Errorf(segue.Corrupt, "export trees: tree %d: %w", i, err)
		}
		m.Trees = append(m.Trees, tree)
	}
	data, err := trees.Encode(&m)
	if err != nil {
		return nil, segue.Errorf(segue.Corrupt, "export trees: %w", err)
	}
	return data, nil
}

// Importance returns, for every feature of the model that Booster.JSON gave,
// the reduction of the training loss that its splits brought, as a share of
// the reduction by all splits: values of 0 to 1 that add up to 1, or only zeros
// when no split reduced the loss. XGBoost calls it total gain. It refuses what
// Export refuses.
func Importance(modelJSON []byte) ([]float64, error) {
	doc, err := parse(modelJSON)
	if err != nil {
		return nil, segue.Errorf(segue.KindOf(err), "weigh features: %w", err)
	}
	shares := make([]float64, doc.features)
	total := 0.0
	for i := range doc.trees() {
		t := &doc.trees()[i]
		order, err := t.preorder(doc.features)
		if err != nil {
			return nil, segue.Errorf(segue.Corrupt, "weigh features: tree %d: %w", i, err)
		}
		for _, node := range order {
			if gain := float64(t.LossChanges[node]); !t.leaf(node) && gain > 0 {
				shares[t.SplitIndices[node]] += gain
				total += gain
			}
		}
	}
	for i := range shares {
		if total > 0 {
			shares[i] /= total
		}
	}
	return shares, nil
}
