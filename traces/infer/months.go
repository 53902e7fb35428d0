package infer

import (
	"maps"
	"slices"
)

// NodeMonth sums up the nodes in service of a month's days that tell.
type NodeMonth struct {
	Month  string `json:"month"` // as 2006-01
	Days   int    `json:"days"`  // with an estimate
	Least  int    `json:"least"`
	Median int    `json:"median"`
	Most   int    `json:"most"`
}

// Months sums the days up by month, in order. Months without an estimate are
// left out.
func Months(days []NodeDay) []NodeMonth {
	var months []NodeMonth
	for len(days) > 0 {
		month := days[0].Date[:len("2006-01")]
		end := 0
		for end < len(days) && days[end].Date[:len(month)] == month {
			end++
		}
		if counts := estimates(days[:end]); len(counts) > 0 {
			months = append(months, NodeMonth{
				Month: month, Days: len(counts), Least: counts[0], Median: counts[len(counts)/2], Most: counts[len(counts)-1],
			})
		}
		days = days[end:]
	}
	return months
}

// TypicalNodes returns the median of the nodes in service, each day with the
// weight of its congested hours; 0 if no day tells.
func TypicalNodes(days []NodeDay) int {
	hours := map[int]float64{}
	all := 0.0
	for _, d := range days {
		if d.InService > 0 {
			hours[d.InService] += d.CongestedHours
			all += d.CongestedHours
		}
	}
	below := 0.0
	for _, n := range slices.Sorted(maps.Keys(hours)) {
		if below += hours[n]; below >= all/2 {
			return n
		}
	}
	return 0
}

// estimates returns the estimates of the days that have one, in ascending order.
func estimates(days []NodeDay) []int {
	var counts []int
	for _, d := range days {
		if d.InService > 0 {
			counts = append(counts, d.InService)
		}
	}
	slices.Sort(counts)
	return counts
}
