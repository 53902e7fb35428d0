package shadow

import (
	"fmt"
	"math"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// Report is what a comparison came to; its JSON is what `segue shadow --json`
// prints. Instants are UTC, hours are hours.
type Report struct {
	From  string `json:"from"`
	Until string `json:"until"`
	Found Counts `json:"found"`
	evaluation.WaysReport
	// FixedLead is the lead of the way of that name.
	FixedLead evaluation.Number `json:"fixed_lead_hours"`
	// Leads are what every fixed lead came to. AtSegues is the interruption of the
	// best mixture of them at Segue's overlap: equal overlap, to compare with.
	Leads     []LeadScore       `json:"fixed_leads"`
	AtSegues  evaluation.Number `json:"fixed_leads_interruption_at_overlap_of_segue"`
	Totals    []Total           `json:"totals"`
	Hows      []HowCount        `json:"how_users_did_it"`
	Forecasts ForecastScore     `json:"forecasts_of_own_submissions"`
	World     WorldScore        `json:"world_beside_the_record"`
	Rows      []Row             `json:"list"`
}

// Counts say what was found of all jobs that ran into their limits.
type Counts struct {
	UsedUp     int `json:"ran_into_their_limit"`
	Handovers  int `json:"continued_by_hand"`
	Alone      int `json:"not_continued"`
	Late       int `json:"continued_too_late_to_count"`
	SideBySide int `json:"several_side_by_side"`
	TooLate    int `json:"too_near_the_end_of_the_history"`
	// Unadvised were continued by hand too, but no advice was written down.
	Unadvised int `json:"without_advice"`
}

// LeadScore is what one fixed lead came to: mean hours.
type LeadScore struct {
	Lead         evaluation.Number `json:"lead_hours"`
	Interruption evaluation.Number `json:"interruption_hours"`
	Overlap      evaluation.Number `json:"overlap_hours"`
	Cost         evaluation.Number `json:"cost"`
}

// Total is the sum over all hand-overs of one way. Overlap is also in node-hours,
// which is what it costs the cluster.
type Total struct {
	Name             string            `json:"name"`
	Interruption     evaluation.Number `json:"interruption_hours"`
	Overlap          evaluation.Number `json:"overlap_hours"`
	OverlapNodeHours evaluation.Number `json:"overlap_node_hours"`
}

// HowCount says what came of users' hand-overs of one kind, as recorded: mean
// hours.
type HowCount struct {
	How          string            `json:"how"`
	Handovers    int               `json:"handovers"`
	Interruption evaluation.Number `json:"interruption_hours"`
	Overlap      evaluation.Number `json:"overlap_hours"`
	// Idle is how long the mean user took to submit after the end.
	Idle evaluation.Number `json:"submitted_after_the_end_hours"`
}

// ForecastScore says how good the forecasts were of the waits that followed users'
// own submissions, as recorded: no other submission has a recorded wait.
type ForecastScore struct {
	Forecasts int               `json:"forecasts"`
	HeldBack  int               `json:"left_out"` // held by their users, or submitted before the predecessor ran
	At50      evaluation.Number `json:"within_the_median"`
	At90      evaluation.Number `json:"within_the_0.9_quantile"`
	// Pinball is the mean pinball loss over the levels 0.1, 0.2, ... 0.9, in hours;
	// PinballNoWait is that of who forecasts no wait at all.
	Pinball       evaluation.Number `json:"pinball"`
	PinballNoWait evaluation.Number `json:"pinball_of_no_wait"`
	MAE           evaluation.Number `json:"mean_absolute_error_of_median"`
	MeanWait      evaluation.Number `json:"mean_wait"`
}

// WorldScore says how close the waits of the world come to recorded ones, at users'
// own submissions, and at those of Segue within an hour of them.
type WorldScore struct {
	Jobs     int               `json:"submissions"`
	R        evaluation.Number `json:"r"` // Pearson's
	MAE      evaluation.Number `json:"mean_absolute_error"`
	Recorded evaluation.Number `json:"mean_recorded"`
	World    evaluation.Number `json:"mean_in_the_world"`
	// Near counts Segue's submissions within an hour of the user's.
	Near         int               `json:"segue_within_an_hour"`
	NearRecorded evaluation.Number `json:"segue_within_an_hour_mean_recorded_of_user"`
	NearWorld    evaluation.Number `json:"segue_within_an_hour_mean_in_the_world"`
}

// Row is one hand-over.
type Row struct {
	User    string `json:"user"`
	Name    string `json:"name"`
	Nodes   int32  `json:"nodes"`
	Limit   string `json:"limit"`
	Before  string `json:"before"` // job IDs
	After   string `json:"after"`
	How     string `json:"how"`
	Started string `json:"before_started"`
	Ended   string `json:"before_ended"`
	Asked   int    `json:"asked"`
	Reason  string `json:"reason"` // of Segue's submission
	Policy  string `json:"policy"`
	// Lead is how long before the end Segue submits, in hours.
	Lead evaluation.Number `json:"segue_lead_hours"`
	Ways []RowWay          `json:"ways"`
}

// RowWay is what one way came to; a positive outcome is an interruption, a negative
// one an overlap.
type RowWay struct {
	Name    string            `json:"name"`
	Submit  string            `json:"submitted"`
	Start   string            `json:"started"`
	Outcome evaluation.Number `json:"outcome_hours"`
}

// NewReport scores what was judged. seed is that of the bootstrap.
func NewReport(cfg Config, r Result, seed uint64) (Report, error) {
	cfg = cfg.withDefaults()
	ways := evaluation.Ways{X: make([][]float64, Ways)}
	for w := range Ways {
		ways.Names = append(ways.Names, w.String())
	}
	for i := range r.Judged {
		j := &r.Judged[i]
		ways.At = append(ways.At, cfg.History[j.Before].End)
		ways.Users = append(ways.Users, cfg.History[j.Before].User)
		ways.Reactive = append(ways.Reactive, j.Outcome(cfg.History, AfterAny).Hours())
		for w := range Ways {
			ways.X[w] = append(ways.X[w], j.Outcome(cfg.History, w).Hours())
		}
	}
	report := Report{From: cfg.From.String(), Until: cfg.Until.String(), Rows: []Row{}, Hows: []HowCount{}, Totals: []Total{}}
	var err error
	if report.WaysReport, err = evaluation.CompareWays(ways, User.String(), evaluation.Config{Prefer: cfg.Prefer, Seed: seed}); err != nil {
		return Report{}, fmt.Errorf("shadow: %w", err)
	}
	report.leads(cfg, r)
	f := r.Found
	report.Found = Counts{f.UsedUp, len(f.Handovers), f.Alone, f.Late, f.SideBySide, f.TooLate, f.Unadvised}
	report.totals(cfg, r, ways)
	report.hows(cfg, r)
	report.forecasts(cfg, r)
	report.world(r)
	for i := range r.Judged {
		report.Rows = append(report.Rows, rowOf(cfg, &r.Judged[i]))
	}
	return report, nil
}

func (r *Report) leads(cfg Config, result Result) {
	r.FixedLead, r.Leads, r.AtSegues = evaluation.Number(result.Lead.Hours()), []LeadScore{}, evaluation.Number(math.NaN())
	for k, p := range result.Leads {
		r.Leads = append(r.Leads, LeadScore{
			evaluation.Number((time.Duration(k) * cfg.Every).Hours()), evaluation.Number(p.Interruption), evaluation.Number(p.Overlap),
			evaluation.Number(p.Cost(cfg.Prefer.OverlapPrice())),
		})
	}
	if len(r.Ways) > 0 {
		r.AtSegues = evaluation.Number(evaluation.NewFrontier(result.Leads).At(float64(r.Ways[Segue].Overlap.Mean)))
	}
}

func (r *Report) totals(cfg Config, result Result, ways evaluation.Ways) {
	if len(result.Judged) == 0 {
		return
	}
	for w, name := range ways.Names {
		t := Total{Name: name}
		for i, x := range ways.X[w] {
			p := evaluation.PointOf(x)
			t.Interruption += evaluation.Number(p.Interruption)
			t.Overlap += evaluation.Number(p.Overlap)
			t.OverlapNodeHours += evaluation.Number(p.Overlap * float64(max(cfg.History[result.Judged[i].After].Nodes, 1)))
		}
		r.Totals = append(r.Totals, t)
	}
}

func (r *Report) hows(cfg Config, result Result) {
	for how := AfterEnd; how <= Overlapping; how++ {
		c := HowCount{How: how.String()}
		for i := range result.Judged {
			j := &result.Judged[i]
			if j.How != how {
				continue
			}
			c.Handovers++
			p := evaluation.PointOf(j.Outcome(cfg.History, Recorded).Hours())
			c.Interruption += evaluation.Number(p.Interruption)
			c.Overlap += evaluation.Number(p.Overlap)
			c.Idle += evaluation.Number(max(0, j.Submit[Recorded].Sub(cfg.History[j.Before].End).Hours()))
		}
		if n := evaluation.Number(c.Handovers); n > 0 {
			c.Interruption, c.Overlap, c.Idle = c.Interruption/n, c.Overlap/n, c.Idle/n
			r.Hows = append(r.Hows, c)
		}
	}
}

// levels are those over which the pinball loss is averaged.
var levels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// forecasts scores what was forecast of recorded waits. Waits of up to a minute are
// none, forecast or recorded.
func (r *Report) forecasts(cfg Config, result Result) {
	var waited, medians, tops []float64
	var loss, lossOfNone float64
	for i := range result.Judged {
		j := &result.Judged[i]
		if j.Forecast.Empty() {
			r.Forecasts.HeldBack++
			continue
		}
		wait := counted(cfg.History[j.After].Wait()).Hours()
		waited = append(waited, wait)
		medians, tops = append(medians, counted(j.Forecast.Quantile(0.5)).Hours()), append(tops, counted(j.Forecast.Quantile(0.9)).Hours())
		for _, p := range levels {
			loss += evaluation.Pinball(p, counted(j.Forecast.Quantile(p)).Hours(), wait) / float64(len(levels))
			lossOfNone += evaluation.Pinball(p, 0, wait) / float64(len(levels))
		}
	}
	n := evaluation.Number(len(waited))
	s := &r.Forecasts
	s.Forecasts = len(waited)
	s.At50, s.At90 = evaluation.Number(evaluation.Coverage(medians, waited)), evaluation.Number(evaluation.Coverage(tops, waited))
	s.Pinball, s.PinballNoWait = evaluation.Number(loss)/n, evaluation.Number(lossOfNone)/n
	s.MAE, s.MeanWait = evaluation.Number(evaluation.MAE(medians, waited)), mean(waited)
}

func counted(wait time.Duration) time.Duration {
	if wait <= atOnce {
		return 0
	}
	return wait
}

// near is how close two submissions are whose waits are alike.
const near = time.Hour

func (r *Report) world(result Result) {
	var recorded, inWorld, nearRecorded, nearWorld []float64
	for i := range result.Judged {
		j := &result.Judged[i]
		from := j.Submit[User]
		recorded = append(recorded, j.Start[Recorded].Sub(from).Hours())
		inWorld = append(inWorld, j.Start[User].Sub(from).Hours())
		if j.Submit[Segue].Sub(from).Abs() <= near {
			nearRecorded = append(nearRecorded, j.Start[Recorded].Sub(from).Hours())
			nearWorld = append(nearWorld, j.Start[Segue].Sub(j.Submit[Segue]).Hours())
		}
	}
	r.World = WorldScore{
		Jobs: len(recorded), R: evaluation.Number(evaluation.Pearson(recorded, inWorld)), MAE: evaluation.Number(evaluation.MAE(recorded, inWorld)),
		Recorded: mean(recorded), World: mean(inWorld),
		Near: len(nearRecorded), NearRecorded: mean(nearRecorded), NearWorld: mean(nearWorld),
	}
}

// mean returns the mean, NaN of none.
func mean(values []float64) evaluation.Number {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return evaluation.Number(sum / float64(len(values)))
}

func rowOf(cfg Config, j *Judged) Row {
	a, b := &cfg.History[j.Before], &cfg.History[j.After]
	row := Row{
		User: a.User, Name: b.Name, Nodes: b.Nodes, Limit: segue.FormatLimit(b.Limit), Before: a.ID.String(), After: b.ID.String(), How: j.How.String(),
		Started: a.Start.String(), Ended: a.End.String(), Asked: j.Asked, Lead: evaluation.Number(a.End.Sub(j.Submit[Segue]).Hours()), Reason: "Submit now: the current link has ended.", Policy: "at-the-end",
	}
	if j.Decision != nil {
		row.Reason, row.Policy = j.Decision.Reason, j.Decision.Policy
	}
	for w := range Ways {
		row.Ways = append(row.Ways, RowWay{w.String(), j.Submit[w].String(), j.Start[w].String(), evaluation.Number(j.Outcome(cfg.History, w).Hours())})
	}
	return row
}
