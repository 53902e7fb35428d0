package simulator_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/segue-project/segue/evaluation"
)

// comparison is how far simulated starts are from real ones, in seconds;
// positive where the simulator is late.
type comparison struct {
	mean                  float64 // signed
	meanAbs, median, p90  float64 // of the absolute differences
	most                  float64
	within1, within5      float64 // shares
	within30              float64
	r, rank               float64 // correlation of the waits, and of their ranks
	inversions            float64 // of the pairs that start apart in both, those in the other order
	waitReal, waitPlanned float64 // means
}

func compare(r slurmRecord, starts []int64) comparison {
	var c comparison
	var off, realWaits, waits []float64
	for i := range r {
		d := float64(starts[i] - r[i].start)
		c.mean += d / float64(len(r))
		off = append(off, math.Abs(d))
		realWaits = append(realWaits, float64(r[i].start-r[i].submit))
		waits = append(waits, float64(starts[i]-r[i].submit))
	}
	slices.Sort(off)
	share := func(most float64) float64 {
		n, _ := slices.BinarySearch(off, most+0.5)
		return float64(n) / float64(len(off))
	}
	c.meanAbs, c.median, c.p90, c.most = meanOf(off), off[len(off)/2], off[len(off)*9/10], off[len(off)-1]
	c.within1, c.within5, c.within30 = share(1), share(5), share(30)
	c.r, c.rank = evaluation.Pearson(realWaits, waits), evaluation.Spearman(realWaits, waits)
	c.inversions = inversions(r, starts)
	c.waitReal, c.waitPlanned = meanOf(realWaits), meanOf(waits)
	return c
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func inversions(r slurmRecord, starts []int64) float64 {
	other, apart := 0.0, 0.0
	for i := range r {
		for k := range i {
			if s := cmp.Compare(r[i].start, r[k].start) * cmp.Compare(starts[i], starts[k]); s != 0 {
				apart++
				other += float64(1-s) / 2
			}
		}
	}
	return other / apart
}

const comparisonHeading = "| simulator | mean | mean abs | median abs | p90 abs | most | within 1 / 5 / 30 s | r of waits | rank r | inversions | mean wait real / simulated |"

func (c comparison) row(name string) string {
	return fmt.Sprintf("| %s | %+.1f | %.1f | %.0f | %.0f | %.0f | %.0f / %.0f / %.0f %% | %.3f | %.3f | %.1f %% | %.1f / %.1f |",
		name, c.mean, c.meanAbs, c.median, c.p90, c.most, 100*c.within1, 100*c.within5, 100*c.within30, c.r, c.rank, 100*c.inversions, c.waitReal, c.waitPlanned)
}

// largest tells of the n jobs that the simulator starts the furthest from the real
// start what was on the nodes instead.
func largest(r slurmRecord, starts []int64, n int) string {
	order := make([]int, len(r))
	for i := range order {
		order[i] = i
	}
	off := func(i int) int64 { return max(starts[i]-r[i].start, r[i].start-starts[i]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(off(b), off(a)) })
	var b strings.Builder
	zero := r[0].submit
	for _, i := range order[:n] {
		j := &r[i]
		fmt.Fprintf(&b, "job %d (%dx%d, limit %d s, ran %d s, submitted at %d): really at %d (%s), simulated at %d, %+d;",
			j.id, j.nodes, j.gpus, j.limit, j.end-j.start, j.submit-zero, j.start-zero, j.by, starts[i]-zero, starts[i]-j.start)
		at, ahead := min(j.start, starts[i]), "the simulator"
		if starts[i] < j.start {
			ahead = "reality"
		}
		fmt.Fprintf(&b, " at %d %s had on the nodes, and the other had not:", at-zero, ahead)
		for k := range r {
			length := r[k].end - r[k].start
			inReal := r[k].start <= at && at < r[k].end
			inSim := starts[k] <= at && at < starts[k]+length
			if k != i && inReal != inSim && inSim == (ahead == "the simulator") {
				fmt.Fprintf(&b, " %d (%dx%d, real %d-%d, simulated %d-%d)", r[k].id, r[k].nodes, r[k].gpus,
					r[k].start-zero, r[k].end-zero, starts[k]-zero, starts[k]+length-zero)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// turnaround tells how many seconds a node stood still between two jobs, of which
// the second took whole nodes and had been waiting.
func turnaround(r slurmRecord) string {
	last := map[string]int64{} // by node, when its last job ended
	order := make([]int, len(r))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r[a].start, r[b].start) })
	var still []float64
	for _, i := range order {
		free := int64(0) // when the last of its nodes came free
		for _, h := range r[i].hosts {
			free = max(free, last[h])
			last[h] = max(last[h], r[i].end)
		}
		if r[i].gpus == 4 && free > r[i].submit {
			still = append(still, float64(r[i].start-free))
		}
	}
	slices.Sort(still)
	if len(still) == 0 {
		return "No job waited for nodes."
	}
	return fmt.Sprintf("%d jobs started on whole nodes that were busy when they were submitted: %.0f s after the last job there ended in the median, %.0f s at p10, %.0f s at p90.",
		len(still), still[len(still)/2], still[len(still)/10], still[len(still)*9/10])
}

// byKind tells by how many seconds the jobs of each kind are late on average.
func byKind(r slurmRecord, starts []int64) string {
	var order []string
	sum, count := map[string]float64{}, map[string]float64{}
	add := func(kind string, late int64) {
		if count[kind] == 0 {
			order = append(order, kind)
		}
		count[kind]++
		sum[kind] += float64(late)
	}
	for i := range r {
		late := starts[i] - r[i].start
		switch {
		case r[i].gpus < 4:
			add("part of a node", late)
		case r[i].nodes > 3:
			add("4 to 8 nodes", late)
		default:
			add(fmt.Sprintf("%d whole nodes", r[i].nodes), late)
		}
		add("a limit of "+strconv.FormatInt(r[i].limit/60, 10)+" min", late)
		add("started by the "+r[i].by+" pass", late)
	}
	slices.Sort(order)
	for i, kind := range order {
		order[i] = fmt.Sprintf("%s (%.0f jobs) %+.1f s", kind, count[kind], sum[kind]/count[kind])
	}
	return strings.Join(order, ", ")
}
