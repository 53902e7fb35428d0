package main

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
)

// curveReport is the JSON of an outcome curve; hours are hours, instants UTC.
type curveReport struct {
	PairNodes int          `json:"pair_nodes"`
	PairHours float64      `json:"pair_hours"`
	Submit    string       `json:"submit"`
	Start     string       `json:"start"`
	End       string       `json:"end"`
	Points    []curvePoint `json:"points"`
	Best      curvePoint   `json:"least_deviation"`
}

// curvePoint is one lead; a positive outcome is an interruption, a negative one
// an overlap.
type curvePoint struct {
	LeadHours    float64 `json:"lead_hours"`
	OutcomeHours float64 `json:"outcome_hours"`
}

func curveReportOf(pair segue.Shape, c outcomes.Curve) curveReport {
	r := curveReport{
		PairNodes: pair.Nodes, PairHours: pair.Limit.Hours(),
		Submit: c.Submit.String(), Start: c.Start.String(), End: c.End.String(),
	}
	best := 0
	for i, lead := range c.Leads {
		r.Points = append(r.Points, curvePoint{lead.Hours(), c.Outcomes[i].Hours()})
		if c.Outcomes[i].Abs() < c.Outcomes[best].Abs() {
			best = i
		}
	}
	r.Best = r.Points[best]
	return r
}

// chainReport is the JSON of a chain.
type chainReport struct {
	PairNodes         int          `json:"pair_nodes"`
	PairHours         float64      `json:"pair_hours"`
	LeadHours         float64      `json:"lead_hours"`
	Links             []linkReport `json:"links"`
	InterruptionHours float64      `json:"interruption_hours"`
	OverlapHours      float64      `json:"overlap_hours"`
}

type linkReport struct {
	Submit       string  `json:"submit"`
	Start        string  `json:"start"`
	End          string  `json:"end"`
	WaitHours    float64 `json:"wait_hours"`
	OutcomeHours float64 `json:"outcome_hours"` // 0 for the first
}

func chainReportOf(pair segue.Shape, lead time.Duration, links []outcomes.Link) chainReport {
	r := chainReport{PairNodes: pair.Nodes, PairHours: pair.Limit.Hours(), LeadHours: lead.Hours()}
	for _, l := range links {
		r.Links = append(r.Links, linkReport{l.Submit.String(), l.Start.String(), l.End.String(), l.Wait().Hours(), l.Outcome.Hours()})
	}
	interruption, overlap := chainTotals(links)
	r.InterruptionHours, r.OverlapHours = interruption.Hours(), overlap.Hours()
	return r
}
