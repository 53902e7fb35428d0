package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/reports"
	"github.com/segue-project/segue/trainer"
)

// scheduleReport is the JSON of a simulated schedule; instants are UTC.
type scheduleReport struct {
	Replay   string `json:"replay"`
	Backfill string `json:"backfill"`
	First    string `json:"first_submission"`
	Last     string `json:"last_end"`
	trainer.Schedule
}

func scheduleReportOf(r trainer.Replay, s trainer.Schedule) scheduleReport {
	report := scheduleReport{Replay: r.Name, Backfill: r.Cluster.Backfill.String(), Schedule: s}
	if s.All.Jobs > 0 {
		report.First, report.Last = s.First.String(), s.Last.String()
	}
	return report
}

func printSchedule(w io.Writer, r trainer.Replay, s trainer.Schedule) error {
	for _, line := range scheduleFacts(r, s) {
		fmt.Fprintln(w, line)
	}
	if s.All.Jobs == 0 {
		return nil
	}
	t := newTable(w)
	t.AppendHeader(table.Row{"jobs", "count", "node hours", "mean wait, h", "p50", "p90", "p99", "bounded slowdown"})
	rows := func(classes ...trainer.JobClass) {
		for _, c := range classes {
			t.AppendRow(table.Row{
				c.Name, c.Jobs, fmt.Sprintf("%.0f", float64(c.NodeHours)),
				number(c.MeanWait), number(c.P50), number(c.P90), number(c.P99), number(c.Slowdown),
			})
		}
		t.AppendSeparator()
	}
	rows(s.All)
	rows(s.Loads...)
	rows(s.Sizes...)
	t.Render()
	_, err := fmt.Fprintln(w, "Load: nodes busy or asked for when the job was submitted. Bounded slowdown: (wait + run) / run, runs of 10 s at least.")
	return err
}

// scheduleFacts says in sentences what was replayed and what it came to.
func scheduleFacts(r trainer.Replay, s trainer.Schedule) []string {
	facts := []string{fmt.Sprintf("The %s replay of %d jobs on %d nodes with backfill %s.", r.Name, s.Jobs, s.Nodes, r.Cluster.Backfill)}
	if s.All.Jobs > 0 {
		facts = append(facts,
			fmt.Sprintf("From %s to %s (UTC), %.1f days: %s of the node hours in service were used.",
				moment(s.First), moment(s.Last), float64(s.MakespanHours)/24, percent(s.Utilisation)),
			fmt.Sprintf("The mean wait was %s.", policy.Words(time.Duration(float64(s.All.MeanWait)*float64(time.Hour)))))
	}
	if s.Unfinished > 0 {
		facts = append(facts, fmt.Sprintf("%d jobs never ran to their end and are left out below.", s.Unfinished))
	}
	return facts
}

func drawSchedule(r trainer.Replay, s trainer.Schedule) []byte {
	fig := reports.Cluster{Title: "The cluster over time", Nodes: float64(s.Nodes)}
	for _, u := range s.Usage {
		if u.At > s.Last {
			break
		}
		fig.Samples = append(fig.Samples, reports.ClusterSample{
			At: u.At, Busy: u.Busy, OutOfService: u.Out, Requested: u.Requested,
		})
	}
	return reports.Simulation{Title: fmt.Sprintf("%d nodes, simulated", s.Nodes), Facts: scheduleFacts(r, s), Cluster: fig}.SVG()
}
