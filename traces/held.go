package traces

import "github.com/segue-project/segue"

// maxHeld bounds how many unended jobs are held back.
const maxHeld = 1 << 16

// held keeps the jobs that had not ended until the end of the file, or until a
// later record of the same attempt takes their place: a history made of
// yesterday's and today's exports has last night's running jobs twice.
type held struct {
	jobs  []heldJob
	index map[segue.JobID]int // of those that still wait
	at    int
}

type heldJob struct {
	segue.Job
	line  int64
	taken bool // by a later record
}

// hold keeps j of the given line back and reports whether it does; it does not
// when it is full.
func (h *held) hold(j *segue.Job, line int64) bool {
	if len(h.index) >= maxHeld {
		return false
	}
	if h.index == nil {
		h.index = make(map[segue.JobID]int)
	}
	if len(h.jobs) >= 2*maxHeld {
		h.compact()
	}
	h.index[j.ID] = len(h.jobs)
	h.jobs = append(h.jobs, heldJob{Job: *j, line: line})
	return true
}

// supersede drops the held record of the attempt that j is a later record of,
// and returns it, or false if there is none.
func (h *held) supersede(j *segue.Job) (heldJob, bool) {
	i, ok := h.index[j.ID]
	if !ok || h.jobs[i].Submit != j.Submit {
		return heldJob{}, false
	}
	delete(h.index, j.ID)
	h.jobs[i].taken = true
	return h.jobs[i], true
}

// place returns where the held job stood.
func (j *heldJob) place() place {
	return place{j.line, func() []byte { return []byte("job " + j.ID.String()) }}
}

// compact gives up the places of the jobs that were taken.
func (h *held) compact() {
	kept := h.jobs[:0]
	for i := range h.jobs {
		if !h.jobs[i].taken {
			h.index[h.jobs[i].ID] = len(kept)
			kept = append(kept, h.jobs[i])
		}
	}
	h.jobs = kept
}

// next returns the held jobs whose place no later record took.
func (h *held) next() (heldJob, bool) {
	for h.at < len(h.jobs) {
		h.at++
		if j := h.jobs[h.at-1]; !j.taken {
			return j, true
		}
	}
	h.jobs, h.index, h.at = nil, nil, 0
	return heldJob{}, false
}
