package trainer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/reports"
	"github.com/segue-project/segue/simulator"
)

// ReportPage returns the HTML report of a backtest that was made by command:
// the scores, a typical start of each load, and one chain under three policies.
func ReportPage(ctx context.Context, cfg BacktestConfig, result BacktestResult, command string) ([]byte, error) {
	cfg = cfg.withDefaults()
	best := bestRule(cfg, result.Report)
	page := reports.Backtest{
		Title:   fmt.Sprintf("When to submit the next link: %s", cfg.Pair),
		Trace:   traceSentence(cfg),
		Command: command, Report: result.Report, Policies: policyTexts(),
		Notes: []string{
			"The outcomes are simulated. Recorded waits also hold what the simulator does not know; " +
				"the stress runs show how the ranking holds when the cluster differs from what the forecasts suppose.",
			"A policy with “true” in its name knows how long every job will run. Nobody can; it shows what that would be worth.",
		},
	}
	page.Notes = append(page.Notes, result.Report.Notes...)
	examples := typicalStarts(result.Test)
	for _, e := range examples {
		page.Curves = append(page.Curves, curveFigure(e, best))
	}
	if n := len(examples); n > 0 {
		chains, err := chainFigures(ctx, cfg, examples[n-1].Curve.Submit, best, result)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		page.Chains = chains
	}
	return page.HTML()
}

func traceSentence(cfg BacktestConfig) string {
	r := cfg.Replays[0]
	span := r.span()
	return fmt.Sprintf("%d jobs, submitted from %s to %s, replayed on %d nodes with %s backfill; a start every %s.",
		len(r.Jobs), span.From.Std().Format(time.DateOnly), span.To.Std().Format(time.DateOnly),
		r.Cluster.Pools[0].Nodes, r.Cluster.Backfill, policy.Words(cfg.Every))
}

func policyTexts() []reports.PolicyText {
	var texts []reports.PolicyText
	for _, f := range policy.Families() {
		texts = append(texts, reports.PolicyText{Name: f.Name, What: f.What, Diagnostic: strings.Contains(f.Name, "true")})
	}
	return texts
}

// bestRule returns the best planner at its tuned parameter; the constant lead
// where there is no planner.
func bestRule(cfg BacktestConfig, r evaluation.Report) policy.Rule {
	for _, s := range r.Policies {
		if s.Name != r.BestPlanner || !s.Tuned.Parameter.Known() {
			continue
		}
		for _, f := range cfg.Families {
			if f.Name == s.Name {
				return f.With(float64(s.Tuned.Parameter))
			}
		}
	}
	return constantRule(r)
}

func constantRule(r evaluation.Report) policy.Rule {
	rule := policy.Rule{Name: evaluation.ConstantName, Form: policy.Constant}
	if s := r.Policies[0]; s.Tuned.Parameter.Known() {
		rule.Param = float64(s.Tuned.Parameter)
	}
	return rule
}

// typicalStarts returns the median start of each load, light first.
func typicalStarts(episodes []Episode) []*Episode {
	var byLoad [3][]*Episode
	for i := range episodes {
		load := evaluation.LoadOf(episodes[i].Curve.Reactive().Hours())
		byLoad[load] = append(byLoad[load], &episodes[i])
	}
	var typical []*Episode
	for _, list := range byLoad {
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b *Episode) int { return cmp.Compare(a.Curve.Reactive(), b.Curve.Reactive()) })
		typical = append(typical, list[len(list)/2])
	}
	return typical
}

func curveFigure(e *Episode, rule policy.Rule) reports.OutcomeCurve {
	c := &e.Curve
	fig := reports.OutcomeCurve{
		Title: fmt.Sprintf("A %s start: submitted %s, reactive interruption %s",
			evaluation.LoadOf(c.Reactive().Hours()), c.Submit.Std().Format("2 January 2006 15:04 UTC"), policy.Words(c.Reactive())),
		ChosenBy: rule.Name,
	}
	band := e.Forecasts[predictor.MonteCarloName]
	for k, lead := range c.Leads {
		fig.Outcomes = append(fig.Outcomes, reports.LeadOutcome{Lead: lead.Hours(), Outcome: c.Outcomes[k].Hours()})
		if band != nil && !band[k].Empty() {
			at := func(p float64) float64 { return (band[k].Quantile(p) - lead).Hours() }
			fig.Forecast = append(fig.Forecast, reports.LeadBand{Lead: lead.Hours(), Lo: at(0.1), Middle: at(0.5), Hi: at(0.9)})
		}
	}
	chosen := fig.Outcomes[chosenLead(e, rule)]
	fig.Chosen = &chosen
	return fig
}

// chainLinks is the length of the chain that the report draws.
const chainLinks = 4

// chainFigures runs one chain from the instant at under the rule, under the
// tuned constant lead and reactively.
func chainFigures(ctx context.Context, cfg BacktestConfig, at segue.Time, rule policy.Rule, result BacktestResult) ([]reports.Timeline, error) {
	replay := cfg.Replays[0]
	setup := Setup{Cluster: replay.Cluster, Jobs: replay.Jobs, Pair: cfg.Pair, MonteCarlo: cfg.Monte}.withDefaults()
	cluster, err := simulator.New(setup.Cluster, setup.Jobs)
	if err != nil {
		return nil, err
	}
	history := &predictor.History{}
	cluster.Observe(&witness{cluster, history})
	cluster.AdvanceTo(at)
	step := cfg.Grid.Step
	if step == 0 {
		step = outcomes.DefaultStep
	}
	var figures []reports.Timeline
	for _, rule := range []policy.Rule{rule, constantRule(result.Report), {Name: "reactive", Form: policy.Constant}} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		links, err := setup.follow(cluster, history.Fork(), rule, step, result.turned)
		if err != nil {
			return nil, err
		}
		figures = append(figures, timeline(rule, links))
	}
	return figures, nil
}

// follow runs a chain under one rule. By turned forecasts are corrected for one that
// reads policy.Corrected.
func (s Setup) follow(
	cluster *simulator.Sim, history *predictor.History, rule policy.Rule, step time.Duration, turned []Turnout,
) ([]outcomes.Link, error) {
	forecasters, err := s.forecasters()
	if err != nil {
		return nil, err
	}
	name, correct := rule.Forecaster, func(f segue.Forecast) segue.Forecast { return f }
	if name == policy.Corrected {
		name, correct = predictor.MonteCarloName, newPast(turned).Correct
	}
	i := slices.IndexFunc(forecasters, func(f predictor.Forecaster) bool { return f.Name() == name })
	var forecast segue.Forecast
	seen := 0 // the link for which forecast was made
	decide := func(link int, remaining time.Duration, world *simulator.Sim) (bool, error) {
		if i >= 0 && !(rule.AtStart && link == seen) {
			now := predictor.Present{Snapshot: s.believe(world.Snapshot(0)), History: history, Owner: owner}
			var err error
			if forecast, err = forecasters[i].Forecast(&now, s.request()); err != nil {
				return false, err
			}
			forecast = correct(forecast)
			seen = link
		}
		return policy.Decide(rule, policy.Situation{
			At: world.Now(), Request: s.request(), Remaining: remaining, Forecast: forecast,
		}).Submit, nil
	}
	return outcomes.Follow(cluster, s.link(), chainLinks, step, decide,
		func(world *simulator.Sim) { world.Observe(&witness{world, history}) })
}

func timeline(rule policy.Rule, links []outcomes.Link) reports.Timeline {
	fig := reports.Timeline{Title: fmt.Sprintf("A chain of %d links under %s", len(links), rule.Name)}
	for k, l := range links {
		fig.Links = append(fig.Links, reports.Link{Name: fmt.Sprintf("link %d", k+1), Submit: l.Submit, Start: l.Start, End: l.End})
	}
	return fig
}
