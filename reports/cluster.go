package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/segue-project/segue"
)

// Cluster draws a cluster over time: above, how its nodes are used; below,
// with a scale of its own, how many nodes the waiting jobs ask for.
type Cluster struct {
	Title string
	// Nodes is the number of nodes that the cluster has.
	Nodes float64
	// Samples ascend in time; each holds until the next one.
	Samples []ClusterSample
}

// ClusterSample is the state of the cluster from At on, in nodes.
type ClusterSample struct {
	At segue.Time
	// Busy nodes run jobs, nodes out of service are down or drained; what is
	// left of the cluster idles.
	Busy, OutOfService float64
	// Requested is the sum over the jobs that wait.
	Requested float64
}

// Draw implements Figure.
func (g Cluster) Draw(width int) Drawing {
	w := widthOf(width)
	samples := g.drawable()
	if len(samples) < 2 {
		return empty(w, g.Title)
	}
	from, until := samples[0].At, samples[len(samples)-1].At
	most, requested := g.nodes(samples), 0.0
	for _, s := range samples {
		requested = max(requested, s.Requested)
	}
	use := &chart{top: titleRoom, right: w - 8, bottom: titleRoom + 190}
	wait := &chart{top: use.bottom + 44, right: w - 8, bottom: use.bottom + 44 + 110}
	use.x = timeAxis(from, until, int(w/70))
	wait.x = timeAxis(from, until, int(w/70))
	use.y = linearAxis("nodes", 0, most, 5)
	wait.y = linearAxis("nodes asked for by waiting jobs", 0, max(requested, 1), 3)
	use.left = max(labelRoom(use.y), labelRoom(wait.y))
	wait.left = use.left

	legend := clusterLegend()
	use.drawing = newDrawing(w, wait.bottom+footRoom+legendHeight(legend, w)+4, g.Title, g.description(samples))
	wait.drawing = use.drawing
	use.x.title = ""
	for i := range use.x.ticks { // the labels below the lower panel are enough
		use.x.ticks[i].label = ""
	}
	use.grid()
	wait.grid()
	columns := averages(samples, int(use.right-use.left))
	use.steps("area run", columns, from, func(s ClusterSample) (float64, float64) { return 0, min(s.Busy, most) })
	use.steps("area out", columns, from, func(s ClusterSample) (float64, float64) {
		return max(most-s.OutOfService, 0), most
	})
	wait.steps("area s4", columns, from, func(s ClusterSample) (float64, float64) { return 0, s.Requested })
	use.line("mark", use.left, use.py(most), use.right, use.py(most))
	use.text("halo note", toEnd, use.right, use.py(most)-6, whole(most)+" nodes in all")
	use.legendRows(legend, wait.bottom+footRoom+8, w)
	return use.finish()
}

// steps fills between two levels of the samples, each held until the next.
func (c *chart) steps(class string, samples []ClusterSample, from segue.Time, levels func(ClusterSample) (lo, hi float64)) {
	var upper, lower []at
	for i, s := range samples {
		lo, hi := levels(s)
		x := s.At.Sub(from).Hours()
		upper, lower = append(upper, c.at(x, hi)), append(lower, c.at(x, lo))
		if i+1 < len(samples) {
			next := samples[i+1].At.Sub(from).Hours()
			upper, lower = append(upper, c.at(next, hi)), append(lower, c.at(next, lo))
		}
	}
	slices.Reverse(lower)
	c.polygon(class, append(upper, lower...), "")
}

// averages returns the samples averaged over time within each of the given
// number of columns, or the samples themselves where they are fewer.
func averages(samples []ClusterSample, columns int) []ClusterSample {
	if len(samples) <= columns || columns < 2 {
		return samples
	}
	from := samples[0].At
	span := samples[len(samples)-1].At.Sub(from).Hours()
	result := make([]ClusterSample, 0, columns+1)
	weight := make([]float64, columns)
	sums := make([]ClusterSample, columns)
	for i := range len(samples) - 1 {
		s := samples[i]
		lo := s.At.Sub(from).Hours() / span * float64(columns)
		hi := samples[i+1].At.Sub(from).Hours() / span * float64(columns)
		for k := int(lo); k < columns && float64(k) < hi; k++ {
			part := min(hi, float64(k+1)) - max(lo, float64(k))
			weight[k] += part
			sums[k].Busy += part * s.Busy
			sums[k].OutOfService += part * s.OutOfService
			sums[k].Requested += part * s.Requested
		}
	}
	for k := range sums {
		if weight[k] <= 0 {
			continue
		}
		result = append(result, ClusterSample{
			At:           from + segue.Time(float64(k)/float64(columns)*span*3600e6),
			Busy:         sums[k].Busy / weight[k],
			OutOfService: sums[k].OutOfService / weight[k],
			Requested:    sums[k].Requested / weight[k],
		})
	}
	last := result[len(result)-1]
	last.At = samples[len(samples)-1].At
	return append(result, last)
}

// drawable returns the samples that consist of numbers, in order of time.
func (g Cluster) drawable() []ClusterSample {
	samples := slices.DeleteFunc(slices.Clone(g.Samples), func(s ClusterSample) bool {
		return !known(s.At) || !finite(s.Busy) || !finite(s.OutOfService) || !finite(s.Requested)
	})
	slices.SortStableFunc(samples, func(a, b ClusterSample) int { return cmp.Compare(a.At, b.At) })
	return samples
}

func (g Cluster) nodes(samples []ClusterSample) float64 {
	if finite(g.Nodes) && g.Nodes > 0 {
		return g.Nodes
	}
	most := 1.0
	for _, s := range samples {
		most = max(most, s.Busy+s.OutOfService)
	}
	return most
}

func clusterLegend() []entry {
	return []entry{
		{"busy", filled("area run")},
		{"out of service", filled("area out")},
		{"asked for by waiting jobs", filled("area s4")},
	}
}

// meanUse returns the time averages of the samples as shares of all nodes, and
// the mean number of nodes asked for.
func (g Cluster) meanUse(samples []ClusterSample) (busy, out, requested float64) {
	total := 0.0
	for i := range max(len(samples)-1, 0) {
		span := samples[i+1].At.Sub(samples[i].At).Hours()
		total += span
		busy += span * samples[i].Busy
		out += span * samples[i].OutOfService
		requested += span * samples[i].Requested
	}
	nodes := g.nodes(samples)
	return busy / total / nodes, out / total / nodes, requested / total
}

func (g Cluster) description(samples []ClusterSample) string {
	busy, out, requested := g.meanUse(samples)
	return fmt.Sprintf("Of %s nodes, %s were busy and %s out of service in the mean; waiting jobs asked for %s nodes in the mean.",
		whole(g.nodes(samples)), percent(busy), percent(out), decimal(requested))
}

// Table implements Figure: the means over the whole time.
func (g Cluster) Table() Table {
	t := Table{Columns: []string{"mean over the time shown", "value"}}
	samples := g.drawable()
	if len(samples) < 2 {
		return t
	}
	busy, out, requested := g.meanUse(samples)
	t.Rows = [][]string{
		{"busy", percent(busy)},
		{"out of service", percent(out)},
		{"idle", percent(max(1-busy-out, 0))},
		{"nodes asked for by waiting jobs", decimal(requested)},
	}
	return t
}
