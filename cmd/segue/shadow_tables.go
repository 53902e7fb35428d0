package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/provisioner/shadow"
)

// shadowTables prints a comparison for people to read.
type shadowTables struct{ backtestTables }

func (s shadowTables) print(r shadow.Report) error {
	f := r.Found
	fmt.Fprintf(s.w, "From %s to %s %d jobs ran into their time limit. Of these %d were continued by hand, %d were not, %d too late to count;\n"+
		"of %d several of a kind ran side by side, and %d ended too near the end of the history.\n",
		r.From, r.Until, f.UsedUp, f.Handovers, f.Alone, f.Late, f.SideBySide, f.TooLate)
	if f.Unadvised > 0 {
		fmt.Fprintf(s.w, "%d more were continued by hand, about which no advice was written down.\n", f.Unadvised)
	}
	if r.Handovers == 0 {
		_, err := fmt.Fprintln(s.w, "There is nothing to compare. docs/pilot.md says what counts as continued by hand.")
		return err
	}
	s.ways(r)
	fmt.Fprintf(s.w, "\nCost = interruption + %.2g x overlap, mean hours per hand-over; intervals: 95 %%, bootstrap by days (%d) and by blocks of four (%d).\n"+
		"user: the user's own submission in the world in which all are measured; segue-shifted: as much off as the world is there.\n"+
		"fixed-lead: %s h before every end, which turned out cheapest. At segue's overlap fixed leads leave %s h of interruption.\n"+
		"Nothing was submitted.\n", float64(r.OverlapPrice), r.Days, r.Blocks, number(r.FixedLead), number(r.AtSegues))
	s.loadsOf(r)
	s.users(r)
	s.trust(r)
	return nil
}

func (s shadowTables) ways(r shadow.Report) {
	t := s.table("way", "interruption", "overlap", "cost", "95 %", "minus user", "95 %, days", "95 %, four days", "no gap", "users alike", "worst")
	for _, w := range r.Ways {
		t.AppendRow(table.Row{
			w.Name, number(w.Interruption.Mean), number(w.Overlap.Mean), number(w.Cost.Mean), between(w.Cost, number),
			number(w.Change.Mean), between(w.Change, number), between(w.ChangeFourDays, number), percent(w.NoGap), number(w.CostOfUsers), number(w.Worst.Cost),
		})
	}
	s.render(t)
}

func (s shadowTables) loadsOf(r shadow.Report) {
	n := r.Ways[0].ByLoad
	fmt.Fprintf(s.w, "\nCost by load (wait of a submission at the end to 2 h, to 12 h, above):\n\n")
	t := s.table("way", fmt.Sprintf("light (%d)", n.Light.Starts), fmt.Sprintf("medium (%d)", n.Medium.Starts), fmt.Sprintf("heavy (%d)", n.Heavy.Starts))
	for _, w := range r.Ways {
		t.AppendRow(table.Row{w.Name, number(w.ByLoad.Light.Cost), number(w.ByLoad.Medium.Cost), number(w.ByLoad.Heavy.Cost)})
	}
	s.render(t)
}

// mostUsers is how many users are printed; the JSON and the report have all.
const mostUsers = 15

func (s shadowTables) users(r shadow.Report) {
	fmt.Fprintf(s.w, "\nCost and worst hand-over of users, of %d:\n\n", len(r.Users))
	t := s.table("user", "hand-overs", "user", "worst", "segue", "worst", "afterany", "oracle")
	for _, u := range r.Users[:min(len(r.Users), mostUsers)] {
		of := func(w shadow.Way) evaluation.UserOfWay { return u.Ways[w] }
		t.AppendRow(table.Row{
			u.User, u.Handovers, number(of(shadow.User).Cost), number(of(shadow.User).Worst), number(of(shadow.Segue).Cost),
			number(of(shadow.Segue).Worst), number(of(shadow.AfterAny).Cost), number(of(shadow.Oracle).Cost),
		})
	}
	s.render(t)
}

// trust says how far the numbers can be trusted.
func (s shadowTables) trust(r shadow.Report) {
	if f := r.Forecasts; f.Forecasts > 0 {
		fmt.Fprintf(s.w, "\nForecasts of the %d recorded waits of users' own submissions: %s within the median, %s within the 0.9 quantile;\n"+
			"pinball loss %s h, of \"no wait\" %s h.\n", f.Forecasts, percent(f.At50), percent(f.At90), number(f.Pinball), number(f.PinballNoWait))
	}
	w := r.World
	fmt.Fprintf(s.w, "The world beside the record, at users' own submissions: mean wait %s h, recorded %s h; error %s h, r %s.\n",
		number(w.World), number(w.Recorded), number(w.MAE), number(w.R))
}
