package simulator

import "slices"

// userCounts is what each user holds now, for the caps. It is empty where no
// cap is configured.
type userCounts struct {
	n         int     // users known
	running   []int32 // jobs
	nodes     []int32
	submitted []int32 // pending and running jobs
	// Per QOS and user where a QOS has limits: index qos*n+user.
	qosRunning, qosNodes []int32
	groupNodes           []int32 // per QOS
}

// grow makes room for n users.
func (u *userCounts) grow(c *conf, n int) {
	if n <= u.n && u.groupNodes != nil {
		return
	}
	old := u.n
	u.n = max(n, u.n)
	if !c.caps {
		return
	}
	more := func(v []int32, n int) []int32 { return append(v, make([]int32, n-len(v))...) }
	u.running, u.nodes, u.submitted = more(u.running, u.n), more(u.nodes, u.n), more(u.submitted, u.n)
	u.groupNodes = more(u.groupNodes, len(c.QOS))
	u.qosRunning = widen(u.qosRunning, len(c.QOS), old, u.n)
	u.qosNodes = widen(u.qosNodes, len(c.QOS), old, u.n)
}

// widen copies rows of length old into rows of length n.
func widen(v []int32, rows, old, n int) []int32 {
	w := make([]int32, rows*n)
	for r := range rows {
		if len(v) > 0 {
			copy(w[r*n:], v[r*old:(r+1)*old])
		}
	}
	return w
}

// capped reports whether a cap forbids the job to start now.
func (u *userCounts) capped(c *conf, j *job) bool {
	l := &c.Limits
	if over(l.MaxRunningJobs, u.running[j.user]+1) || over(l.MaxNodes, u.nodes[j.user]+j.nodes) {
		return true
	}
	q := &c.QOS[j.qos]
	k := int(j.qos)*u.n + int(j.user)
	return over(q.Limits.MaxRunningJobs, u.qosRunning[k]+1) || over(q.Limits.MaxNodes, u.qosNodes[k]+j.nodes) ||
		over(q.GroupNodes, u.groupNodes[j.qos]+j.nodes)
}

func over(limit int, n int32) bool { return limit > 0 && int(n) > limit }

func (u *userCounts) started(j *job) { u.add(j, 1) }
func (u *userCounts) stopped(j *job) { u.add(j, -1) }

func (u *userCounts) add(j *job, sign int32) {
	k := int(j.qos)*u.n + int(j.user)
	u.running[j.user] += sign
	u.nodes[j.user] += sign * j.nodes
	u.qosRunning[k] += sign
	u.qosNodes[k] += sign * j.nodes
	u.groupNodes[j.qos] += sign * j.nodes
}

func (u *userCounts) copyInto(d *userCounts) {
	d.n = u.n
	d.running = append(d.running[:0], u.running...)
	d.nodes = append(d.nodes[:0], u.nodes...)
	d.submitted = append(d.submitted[:0], u.submitted...)
	d.qosRunning = append(d.qosRunning[:0], u.qosRunning...)
	d.qosNodes = append(d.qosNodes[:0], u.qosNodes...)
	d.groupNodes = append(d.groupNodes[:0], u.groupNodes...)
}

// admits reports whether the user may have one more job pending or running.
func (s *Sim) admits(j *job) bool {
	n := s.users.submitted[j.user] + 1
	return !over(s.conf.Limits.MaxSubmittedJobs, n) && !over(s.conf.QOS[j.qos].Limits.MaxSubmittedJobs, n)
}

// leave notes that a job is neither pending nor running any more, and takes the
// user's next job that waited for it.
func (s *Sim) leave(_ Ref, j *job) {
	if !s.conf.caps {
		return
	}
	s.users.submitted[j.user]--
	for i, ref := range s.deferred {
		if d := s.job(ref); d.user == j.user && s.admits(d) {
			s.deferred = slices.Delete(s.deferred, i, i+1)
			s.admit(ref)
			return
		}
	}
}
