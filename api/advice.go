package api

import (
	"context"
	"math"
	"time"

	"github.com/segue-project/segue"
)

type (
	adviceInput struct {
		Body AdviceRequest
	}
	adviceOutput struct {
		Body AdviceAnswer
	}
)

// AdviceRequest asks whether to submit the next link of a chain now. Exactly one of
// PredecessorJob and Remaining is given.
type AdviceRequest struct {
	Nodes          int    `json:"nodes" minimum:"1" maximum:"10000000" doc:"Nodes of the next job, as sbatch --nodes." example:"4"`
	GPUsPerNode    int    `json:"gpus_per_node,omitempty" minimum:"0" maximum:"1000" doc:"GPUs on each node; 0 takes whole nodes."`
	TimeLimit      string `json:"time_limit" minLength:"1" maxLength:"40" doc:"Its limit, as sbatch --time (48 is 48 minutes) or as 48h." example:"48:00:00"`
	Partition      string `json:"partition,omitempty" maxLength:"200" doc:"Its partition; empty is the whole cluster."`
	Account        string `json:"account,omitempty" maxLength:"200"`
	User           string `json:"user,omitempty" maxLength:"200" doc:"Whose jobs are one's own: the caller. Only an operator asks for others."`
	Cluster        string `json:"cluster,omitempty" maxLength:"200" doc:"The cluster; default the server's own."`
	PredecessorJob string `json:"predecessor_job,omitempty" maxLength:"40" doc:"The running job that it follows." example:"123456"`
	Remaining      string `json:"remaining,omitempty" maxLength:"40" doc:"Instead of predecessor_job: how long the current job still runs, as squeue shows it (9:00 is 9 minutes) or as 9h." example:"9h"`
	Prefer         string `json:"prefer,omitempty" maxLength:"40" doc:"no-gap, balanced (default), no-waste, or hours of overlap worth one hour of interruption." example:"balanced"`
	MaxLead        string `json:"max_lead,omitempty" maxLength:"40" doc:"Never submit earlier than this before the end." example:"12h"`
}

// Basis is what an answer is based on.
type Basis struct {
	Cluster    string  `json:"cluster"`
	Source     string  `json:"source" enum:"scheduler,history" doc:"Whether the scheduler was asked, or the latest moment of the history counts."`
	DataAt     string  `json:"data_at" format:"date-time" doc:"The moment of the queue that the answer is about."`
	DataAge    float64 `json:"data_age_seconds" doc:"How old that is. Answers are remembered for some seconds; where the source is a history it may be years."`
	Running    int     `json:"running_jobs"`
	Pending    int     `json:"pending_jobs"`
	Forecaster string  `json:"forecaster" doc:"Whose forecast it is."`
	// Notes are sentences about what of the question could not count.
	Notes []string `json:"notes,omitempty" doc:"What of the question could not count, such as a partition where the history names none."`
	// Wait is the distribution of the wait of a submission at that moment.
	Wait []Quantile `json:"wait_quantiles"`
}

// Quantile is a share of such jobs, and within how many seconds they start.
type Quantile struct {
	P       float64 `json:"p" example:"0.9"`
	Seconds float64 `json:"seconds"`
}

// AdviceAnswer is whether to submit now, and what is expected of each alternative.
type AdviceAnswer struct {
	Decision string `json:"decision" enum:"submit,wait"`
	SubmitAt string `json:"submit_at" format:"date-time" doc:"When to submit; when it is to wait: when to ask again at the latest, and to submit if nobody asks."`
	Reason   string `json:"reason" doc:"One sentence with numbers."`
	Policy   string `json:"policy"`
	Model    string `json:"model" doc:"ID of the model that was asked; empty for none."`
	Prefer   string `json:"prefer"`
	Basis
	Remaining       float64             `json:"remaining_seconds" doc:"How long the current job still runs."`
	StartsBeforeEnd float64             `json:"starts_before_end" doc:"Probability that a submission now starts before the current job ends."`
	Interruption    float64             `json:"expected_interruption_seconds" doc:"Of a submission now."`
	Overlap         float64             `json:"expected_overlap_seconds" doc:"Of a submission now."`
	Alternatives    []AlternativeAnswer `json:"alternatives" doc:"Submitting now, and later and later."`
}

// AlternativeAnswer is one moment at which to submit, and what is expected then.
type AlternativeAnswer struct {
	SubmitAt        string  `json:"submit_at" format:"date-time"`
	Interruption    float64 `json:"expected_interruption_seconds"`
	Overlap         float64 `json:"expected_overlap_seconds"`
	StartsBeforeEnd float64 `json:"starts_before_end"`
	Cost            float64 `json:"cost_hours" doc:"Interruption, and overlap at the price of the preference, in hours."`
	Forecaster      string  `json:"forecaster"`
}

func (a *API) advise(ctx context.Context, in *adviceInput) (*adviceOutput, error) {
	began := a.cfg.Now()
	caller, _ := callerOf(ctx)
	q, err := in.Body.question(caller)
	if err != nil {
		return nil, err
	}
	advice, err := a.services.Advisor.Advise(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &adviceOutput{Body: answerOf(advice)}
	a.metrics.advice.Observe(a.cfg.Now().Sub(began).Seconds())
	a.metrics.advices.WithLabelValues(out.Body.Decision).Inc()
	return out, nil
}

// question reads the request, of which the caller is whose jobs are one's own.
func (r *AdviceRequest) question(caller Caller) (Question, error) {
	q := Question{
		Cluster: r.Cluster,
		Request: segue.Request{
			Shape: segue.Shape{Nodes: r.Nodes, GPUsPerNode: r.GPUsPerNode},
			User:  r.User, Account: r.Account, Partition: r.Partition,
		},
	}
	switch {
	case q.Request.User == "":
		q.Request.User = caller.User
	case q.Request.User != caller.User && !caller.Operator():
		return Question{}, forbidden("user " + r.User + ": only an operator asks for others")
	}
	var err error
	if q.Request.Limit, err = limitOf("time_limit", r.TimeLimit); err != nil {
		return Question{}, err
	}
	switch {
	case (r.PredecessorJob == "") == (r.Remaining == ""):
		return Question{}, segue.Errorf(segue.Invalid, "want either predecessor_job or remaining")
	case r.PredecessorJob != "":
		id, err := segue.ParseJobID(r.PredecessorJob)
		if err != nil {
			return Question{}, segue.Errorf(segue.Invalid, "predecessor_job: %w", err)
		}
		q.Predecessor = &id
	default:
		if q.Remaining, err = timeLeftOf("remaining", r.Remaining); err != nil {
			return Question{}, err
		}
		if q.Remaining == segue.Unlimited {
			return Question{}, segue.Errorf(segue.Invalid, "remaining is unlimited: a job that never ends needs no successor")
		}
	}
	if q.Prefer, err = segue.ParsePreference(r.Prefer); err != nil {
		return Question{}, err
	}
	if r.MaxLead != "" {
		q.MaxLead, err = timeLeftOf("max_lead", r.MaxLead)
	}
	return q, err
}

// told are the quantiles that the interface tells.
var told = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95}

func basisOf(o Outlook) Basis {
	b := Basis{
		Cluster: o.Cluster, Source: o.Source, DataAt: o.Data.String(), DataAge: spanSeconds(max(0, o.Now.Sub(o.Data))),
		Running: o.Running, Pending: o.Pending, Forecaster: o.Forecast.Source, Notes: o.Notes, Wait: make([]Quantile, 0, len(told)),
	}
	if o.Forecast.Empty() {
		return b
	}
	for _, p := range told {
		b.Wait = append(b.Wait, Quantile{p, spanSeconds(o.Forecast.Quantile(p))})
	}
	return b
}

func answerOf(advice Advice) AdviceAnswer {
	d := advice.Decision
	advice.Forecast = d.Forecast
	out := AdviceAnswer{
		Decision: verdict(d), SubmitAt: d.SubmitAt.String(), Reason: d.Reason, Policy: d.Policy, Model: d.Model, Prefer: d.Prefer.String(),
		Basis: basisOf(advice.Outlook), Remaining: spanSeconds(d.Remaining), StartsBeforeEnd: d.Forecast.StartsWithin(d.Remaining),
		Interruption: spanSeconds(d.Forecast.Interruption(d.Remaining)), Overlap: spanSeconds(d.Forecast.Overlap(d.Remaining)),
	}
	out.Alternatives = alternativesOf(d.Alternatives)
	return out
}

func alternativesOf(alternatives []segue.Alternative) []AlternativeAnswer {
	all := make([]AlternativeAnswer, 0, len(alternatives))
	for _, alt := range alternatives {
		all = append(all, AlternativeAnswer{
			alt.SubmitAt.String(), spanSeconds(alt.Interruption), spanSeconds(alt.Overlap), alt.StartsBeforeEnd,
			math.Round(alt.Cost*1e6) / 1e6, alt.Forecaster,
		})
	}
	return all
}

func verdict(d segue.Decision) string {
	if d.Submit {
		return "submit"
	}
	return "wait"
}

// ForecastRequest asks how long a submission now would wait.
type ForecastRequest struct {
	Nodes       int    `query:"nodes" required:"true" minimum:"1" maximum:"10000000" doc:"Nodes of the job." example:"4"`
	GPUsPerNode int    `query:"gpus_per_node" minimum:"0" maximum:"1000" doc:"GPUs on each node; 0 takes whole nodes."`
	TimeLimit   string `query:"time_limit" required:"true" maxLength:"40" doc:"Its limit, as sbatch --time or as 48h." example:"48:00:00"`
	Partition   string `query:"partition" maxLength:"200"`
	Account     string `query:"account" maxLength:"200"`
	Cluster     string `query:"cluster" maxLength:"200" doc:"Default the server's own."`
}

type forecastOutput struct {
	Body ForecastAnswer
}

// ForecastAnswer is how long a submission now would wait.
type ForecastAnswer struct {
	Shape string `json:"shape" example:"4 nodes x 48h0m0s"`
	Basis
	Mean float64 `json:"mean_seconds"`
}

func (a *API) forecast(ctx context.Context, in *ForecastRequest) (*forecastOutput, error) {
	caller, _ := callerOf(ctx)
	r := segue.Request{
		Shape: segue.Shape{Nodes: in.Nodes, GPUsPerNode: in.GPUsPerNode},
		User:  caller.User, Account: in.Account, Partition: in.Partition,
	}
	var err error
	if r.Limit, err = limitOf("time_limit", in.TimeLimit); err != nil {
		return nil, err
	}
	o, err := a.services.Advisor.Forecast(ctx, in.Cluster, r)
	if err != nil {
		return nil, err
	}
	return &forecastOutput{Body: ForecastAnswer{r.String(), basisOf(o), spanSeconds(min(o.Forecast.Mean(), time.Duration(math.MaxInt64)))}}, nil
}
