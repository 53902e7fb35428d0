package simulator

import (
	"strconv"
	"time"

	"github.com/segue-project/segue"
)

// Snapshot returns what the scheduler of the pool would show now: no run time,
// no later arrival. Jobs are named by their Ref.
func (s *Sim) Snapshot(pool int) segue.Snapshot {
	p := &s.pools[pool]
	snap := segue.Snapshot{
		At: segue.Time(s.now), Nodes: int(p.total - p.draining), GPUsPerNode: s.conf.Pools[pool].GPUsPerNode,
		Running: make([]segue.QueuedJob, 0, len(p.running)),
		Pending: make([]segue.QueuedJob, 0, len(p.queue)),
	}
	for i := range p.running {
		q := s.show(p.running[i].ref)
		q.Start = segue.Time(p.running[i].start)
		snap.Running = append(snap.Running, q)
	}
	for i := range p.queue {
		q := s.show(p.queue[i].ref)
		q.Eligible, q.Start = segue.Time(p.queue[i].eligible), segue.NoTime
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
		q.Eligible, q.Start, q.Reason = segue.NoTime, segue.NoTime, reason
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
	return segue.QueuedJob{
		ID: segue.JobID{Number: int64(ref)},
		Request: segue.Request{
			Shape: segue.Shape{
				Nodes: int(j.nodes), GPUsPerNode: int(j.gpus), Limit: time.Duration(j.limit) * time.Microsecond,
			},
			User: s.conf.userName(j.user), Partition: s.conf.Partitions[j.part].Name, QOS: s.conf.QOS[j.qos].Name,
		},
		Submit: segue.Time(j.submit), Eligible: segue.NoTime, Start: segue.NoTime,
		Priority: -int64(s.nice(ref)),
	}
}

func (c *conf) userName(user int32) string {
	if int(user) < len(c.Users) {
		return c.Users[user]
	}
	return strconv.Itoa(int(user))
}
