package provisioner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
)

func adviseBy(t *testing.T, by provisioner.Trained, now predictor.Present, q provisioner.Question) segue.Decision {
	t.Helper()
	d, err := provisioner.AdviseBy(by, now, cluster, predictor.MonteCarloConfig{Replicas: 20}, q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAdviceByAModel(t *testing.T) {
	t.Parallel()
	by := provisioner.Trained{ID: "toy", Model: toymodel.New(t, 3*hour, 10*hour, "moe-dqn", "pg")}
	d := adviseBy(t, by, present(0, 0), question())
	if !d.Submit || d.Policy != "moe-dqn" || d.Model != "toy" || d.Forecast.Source != "blend" {
		t.Errorf("%s of %s submits %t by %s, want moe-dqn of toy, true, by blend", d.Policy, d.Model, d.Submit, d.Forecast.Source)
	}
	if now, later := d.Alternatives[0], d.Alternatives[1]; now.Forecaster != "blend" || later.Forecaster != "blend + monte-carlo" {
		t.Errorf("a submission now is priced by %s, a later one by %s, want blend and blend + monte-carlo", now.Forecaster, later.Forecaster)
	}
	by.Policy = "trees-quantile"
	if d := adviseBy(t, by, present(0, 0), question()); d.Submit || d.Policy != "trees-quantile" {
		t.Errorf("%s submits %t, want trees-quantile, which waits", d.Policy, d.Submit)
	}
}

// The features are those of what is known: what the model never saw makes it
// stand aside, and then the planner's decision stands.
func TestModelThatStandsAsideLeavesTheDecisionToThePlanner(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 3*hour, 10*hour, "moe-dqn")
	model.Drift = toymodel.Drift("pending.size", 0, 0.5)
	by := provisioner.Trained{ID: "toy", Model: model}
	if d := adviseBy(t, by, present(4, 2), question()); d.Policy != "moe-dqn" {
		t.Errorf("with half of the nodes asked for %s decides, want moe-dqn", d.Policy)
	}
	got, want := adviseBy(t, by, present(4, 4), question()), advise(t, present(4, 4), question())
	because := "; the model stands aside: pending.size is 1, training saw at most 0.5."
	if !strings.HasSuffix(got.Reason, because) {
		t.Errorf("the reason is %q, want it to end with %q", got.Reason, because)
	}
	want.Model, want.Reason = "toy", got.Reason
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decisions differ (-planner +model):\n%s", diff)
	}
}

func TestQuestionsThatNoModelAnswers(t *testing.T) {
	t.Parallel()
	by := provisioner.Trained{ID: "toy", Model: toymodel.New(t, 3*hour, 10*hour), Policy: "moe-dqn"}
	q := question()
	for want, ask := range map[string]func(){
		`advise: model toy: the model has no policy "moe-dqn": want one of blend-quantile, trees-quantile`: func() {},
		"advise: the request is for 5 nodes, the cluster has 4":                                            func() { q.Request.Nodes = 5 },
	} {
		q = question()
		ask()
		_, err := provisioner.AdviseBy(by, present(0, 0), cluster, predictor.MonteCarloConfig{}, q)
		if err == nil || err.Error() != want || segue.KindOf(err) != segue.Invalid {
			t.Errorf("error %v, want %q (invalid)", err, want)
		}
	}
}
