package infer

import "github.com/segue-project/segue"

// limitBlocks returns, by job, until when a found limit on running jobs or
// their nodes last held it back; NoTime where none did.
func (h *history) limitBlocks(r *Result) []segue.Time {
	until := make([]segue.Time, len(h.jobs))
	for i := range until {
		until[i] = segue.NoTime
	}
	h.blockBy(r.Limits, everyJob, until)
	for _, p := range r.Partitions {
		h.blockBy(p.Limits, func(j *segue.Job) bool { return j.Partition == p.Name }, until)
	}
	for _, q := range r.QOS {
		h.blockBy(q.Limits, func(j *segue.Job) bool { return j.QOS == q.Name }, until)
	}
	return until
}

func (h *history) blockBy(l Limits, selected selection, until []segue.Time) {
	if l.MaxRunning.Found {
		one := func(*segue.Job) int { return 1 }
		h.blockByOne(l.MaxRunning.Value, one, selected, until)
	}
	if l.MaxNodes.Found {
		nodes := func(j *segue.Job) int { return int(j.Nodes) }
		h.blockByOne(l.MaxNodes.Value, nodes, selected, until)
	}
}

func (h *history) blockByOne(limit int, takes func(*segue.Job) int, selected selection, until []segue.Time) {
	for _, own := range h.users {
		use := h.useOf(own, takes, selected)
		peak := use.peak()
		for _, i := range own {
			j := &h.jobs[i]
			// A job that alone is larger than the limit was let in by another rule.
			if n := takes(j); h.started[i] && selected(j) && h.leaves[i] > j.Submit && n <= limit && peak+n > limit {
				until[i] = max(until[i], use.lastOver(limit-n, j.Submit, j.Start))
			}
		}
	}
}

// useOf returns what the user's running jobs take together over time.
func (h *history) useOf(own []int, takes func(*segue.Job) int, selected selection) stepFunction {
	var changes []change
	for _, i := range own {
		if j := &h.jobs[i]; h.started[i] && selected(j) {
			changes = append(changes, change{j.Start, takes(j), i}, change{h.ends(i), -takes(j), i})
		}
	}
	sortChanges(changes)
	var f stepFunction
	now := 0
	for k, c := range changes {
		now += c.by
		if k+1 < len(changes) && changes[k+1].at == c.at {
			continue
		}
		f.add(c.at, now)
	}
	return f
}
