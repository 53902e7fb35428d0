package simulator

import "slices"

// userCounts is what each user holds now, for the caps. It is empty where no
// cap is configured.
type userCounts struct {
	n     int     // users known
	total []holds // per user
	// byQOS is per QOS and user: index qos*n+user.
	byQOS      []holds
	groupNodes []int32 // per QOS
}

// holds is what one user holds.
type holds struct {
	running   int32 // jobs
	nodes     int32 // of running jobs
	submitted int32 // jobs, pending and running
	deferred  int32 // jobs that are not submitted yet for MaxSubmittedJobs
}

// grow makes room for n users.
func (u *userCounts) grow(c *conf, n int) {
	old := u.n
	u.n = max(n, old)
	if !c.caps || (u.n == old && u.groupNodes != nil) {
		return
	}
	u.total = append(u.total, make([]holds, u.n-old)...)
	wide := make([]holds, len(c.QOS)*u.n)
	for q := range u.groupNodes {
		copy(wide[q*u.n:], u.byQOS[q*old:(q+1)*old])
	}
	u.byQOS = wide
	u.groupNodes = append(u.groupNodes, make([]int32, len(c.QOS)-len(u.groupNodes))...)
}

func (u *userCounts) of(j *job) (total, qos *holds) {
	return &u.total[j.user], &u.byQOS[int(j.qos)*u.n+int(j.user)]
}

// capped reports whether a cap forbids the job to start now.
func (u *userCounts) capped(c *conf, j *job) bool {
	total, qos := u.of(j)
	q := &c.QOS[j.qos]
	return c.Limits.forbid(total, j) || q.Limits.forbid(qos, j) || over(q.GroupNodes, u.groupNodes[j.qos]+j.nodes)
}

func (l *Limits) forbid(h *holds, j *job) bool {
	return over(l.MaxRunningJobs, h.running+1) || over(l.MaxNodes, h.nodes+j.nodes)
}

func over(limit int, n int32) bool { return limit > 0 && int(n) > limit }

func (u *userCounts) started(j *job) { u.run(j, 1) }
func (u *userCounts) stopped(j *job) { u.run(j, -1) }

func (u *userCounts) run(j *job, sign int32) {
	total, qos := u.of(j)
	for _, h := range [...]*holds{total, qos} {
		h.running += sign
		h.nodes += sign * j.nodes
	}
	u.groupNodes[j.qos] += sign * j.nodes
}

func (u *userCounts) submit(j *job, sign int32) {
	total, qos := u.of(j)
	total.submitted += sign
	qos.submitted += sign
}

func (u *userCounts) copyInto(d *userCounts) {
	d.n = u.n
	d.total = append(d.total[:0], u.total...)
	d.byQOS = append(d.byQOS[:0], u.byQOS...)
	d.groupNodes = append(d.groupNodes[:0], u.groupNodes...)
}

// admits reports whether the user may have one more job pending or running.
func (s *Sim) admits(j *job) bool {
	total, qos := s.users.of(j)
	return !over(s.conf.Limits.MaxSubmittedJobs, total.submitted+1) &&
		!over(s.conf.QOS[j.qos].Limits.MaxSubmittedJobs, qos.submitted+1)
}

// deferUntilAdmitted keeps a job that its user may not submit yet.
func (s *Sim) deferUntilAdmitted(ref Ref, j *job) {
	s.deferred = append(s.deferred, ref)
	s.users.total[j.user].deferred++
}

// leave notes that a job is neither pending nor running any more, and takes the
// user's next job that waited for it.
func (s *Sim) leave(j *job) {
	if !s.conf.caps {
		return
	}
	s.users.submit(j, -1)
	if s.users.total[j.user].deferred == 0 {
		return
	}
	for i, ref := range s.deferred {
		if d := s.job(ref); d.user == j.user && s.admits(d) {
			s.deferred = slices.Delete(s.deferred, i, i+1)
			s.users.total[j.user].deferred--
			s.admit(ref, d)
			return
		}
	}
}
