package simulator

import (
	"strconv"
	"time"

	"github.com/segue-project/segue"
)

// Snapshot returns what the scheduler of the pool would show now: no run time,
// no later arrival. Jobs are named by their Ref; their Priority is what they
// have beyond what the multifactor order computes, the negative of Nice.
func (s *Sim) Snapshot(pool int) segue.Snapshot {
	p := &s.pools[pool]
	snap := segue.Snapshot{
		At: segue.Time(s.now), Nodes: int(p.total - p.draining), GPUsPerNode: s.conf.Pools[pool].GPUsPerNode,
		Running: make([]segue.QueuedJob, 0, p.running.len()),
		Pending: make([]segue.QueuedJob, 0, p.queue.len()),
	}
	for r := range p.running.all() {
		q := s.show(r.ref)
		q.Start = segue.Time(s.startOf(r))
		snap.Running = append(snap.Running, q)
	}
	for w := range p.queue.all() {
		q := s.show(w.ref)
		q.Eligible = segue.Time(w.eligible)
		snap.Pending = append(snap.Pending, q)
	}
	s.showHeld(&snap, pool)
	return snap
}

// showHeld adds the submitted jobs that are not eligible yet.
func (s *Sim) showHeld(snap *segue.Snapshot, pool int) {
	add := func(ref Ref, reason string) {
		if s.conf.Partitions[s.job(ref).part].Pool != pool {
			return
		}
		q := s.show(ref)
		q.Reason = reason
		snap.Pending = append(snap.Pending, q)
	}
	for _, h := range s.held {
		add(h.ref, "Dependency")
	}
	for _, a := range s.releases {
		add(a.ref, "BeginTime")
	}
}

func (s *Sim) show(ref Ref) segue.QueuedJob {
	j := s.job(ref)
	q := segue.QueuedJob{
		ID: segue.JobID{Number: int64(ref)},
		Request: segue.Request{
			Shape: segue.Shape{
				Nodes: int(j.nodes), GPUsPerNode: int(j.gpus), Limit: time.Duration(j.limit) * time.Microsecond,
			},
			User: s.conf.userName(j.user), Partition: s.conf.Partitions[j.part].Name, QOS: s.conf.QOS[j.qos].Name,
		},
		Submit: segue.Time(j.submit), Eligible: segue.NoTime, Start: segue.NoTime,
	}
	if j.flags&hasNice != 0 {
		q.Priority = -int64(s.rare(ref).Nice)
	}
	return q
}

func (c *conf) userName(user int32) string {
	if int(user) < len(c.Users) {
		return c.Users[user]
	}
	return strconv.Itoa(int(user))
}
