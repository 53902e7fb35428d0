package infer

import (
	"fmt"
	"math"
	"strings"

	"github.com/segue-project/segue"
)

// Chains is what the starts right after an own job's end add up to.
type Chains struct {
	// Found is true when more of them remain than chance and limits explain.
	Found bool `json:"found"`
	// Waited are the jobs that started after waiting longer than
	// Config.MinWait; Coincided those of them that started within Config.Window
	// after a job of the same user ended, one that was not over when they were
	// submitted. CoincidedShare is the part of all waiting hours that they hold.
	Waited         int     `json:"waited"`
	Coincided      int     `json:"coincided"`
	CoincidedShare float64 `json:"coincided_share_of_waiting"`
	// AnytimeLevel is the part of the waits that lies within the window after an
	// own job's end: how many would coincide if jobs started at any instant of
	// their waits alike.
	AnytimeLevel float64 `json:"anytime_level"`
	// ByLimit of the coincidences are starts that a limit on the user allowed.
	ByLimit int `json:"by_limit"`
	// The rest falls into three groups. Named: the name counts on from that of
	// the job that ended (x.10, x.11). HeldBack: there was room for the job, and
	// one that asked for no less overtook it, so that something but the queue
	// held it. Others: neither.
	Named    Excess `json:"names_continue"`
	HeldBack Excess `json:"held_back"`
	Others   Excess `json:"others"`
	// Inferred are the dependencies found.
	Inferred int `json:"inferred"`
}

// Excess is coincidences beside what chance would give.
type Excess struct {
	Coincided int     `json:"coincided"`
	Expected  float64 `json:"expected_by_chance"`

	variance float64
}

// expect adds what chance would give one job.
func (e *Excess) expect(chance float64) {
	e.Expected += chance
	e.variance += chance * (1 - chance)
}

// Found reports whether chance does not explain the coincidences: where starts
// follow ends on a full cluster, it is known within a factor of two only.
func (e Excess) Found() bool {
	n := float64(e.Coincided)
	return n >= leastCoincided && n >= leastExcess*e.Expected && n-e.Expected >= leastDeviations*math.Sqrt(e.variance+1)
}

// part returns the part of the coincidences that chance does not give.
func (e Excess) part() float64 {
	return max(0, 1-ratio(e.Expected, float64(e.Coincided)))
}

const (
	leastCoincided  = 10
	leastExcess     = 3.0 // times chance
	leastDeviations = 5.0
	leastConfidence = 0.5
)

// AfterAny is the one kind of dependency that can be seen from outside: the job
// starts after the other one has ended, however it ended.
const AfterAny = "afterany"

// Dependency says that a job had to wait for another one of the same user.
type Dependency struct {
	Job   int    `json:"-"` // index in the history
	After int    `json:"-"`
	Kind  string `json:"kind"`
	// Confidence, in (0, 1), is the part of the coincidences of the user, and of
	// the group, that chance does not give, raised or lowered by whether the job
	// was first of its user in line. It ranks; it is not calibrated.
	Confidence float64 `json:"confidence"`
	Evidence   string  `json:"evidence"`
}

// waited is a job that waited, with the own job whose end may have let it
// start.
type waited struct {
	job, after int // after is -1 when no own job ended while it waited
	coincides  bool
	byLimit    bool
	heldBack   bool
	named      bool // its name counts on from after's
	first      bool // no own job that was submitted earlier still pends
	anytime    float64
	chance     float64 // probability of a coincidence
}

// inferChains finds the dependencies that the limits do not explain; blocks are
// limitBlocks'.
func (h *history) inferChains(cfg Config, blocks []segue.Time) (Chains, []Dependency) {
	s := newSuspects(h, cfg, blocks)
	var c Chains
	var rest []waited
	hours := 0.0
	for u := range h.users {
		for _, w := range s.of(u) {
			c.Waited++
			c.AnytimeLevel += w.anytime
			if w.coincides {
				c.Coincided++
				hours += h.wait(w.job).Hours()
			}
			switch {
			case !w.byLimit:
				rest = append(rest, w)
			case w.coincides:
				c.ByLimit++
			}
		}
	}
	c.CoincidedShare = ratio(hours, h.waiting)
	c.AnytimeLevel = ratio(c.AnytimeLevel, float64(c.Waited))
	deps := h.judge(rest, &c)
	c.Inferred = len(deps)
	return c, deps
}

// judge returns the coincidences that are likelier dependencies than not: those
// of a group that chance does not explain, and once there is such a group, those
// of a user that it does not explain.
func (h *history) judge(rest []waited, c *Chains) []Dependency {
	users := h.tally(rest, c)
	if c.Found = c.Named.Found() || c.HeldBack.Found() || c.Others.Found(); !c.Found {
		return nil
	}
	firsts := measureSign(rest, func(w *waited) bool { return w.first })
	var deps []Dependency
	for i := range rest {
		w := &rest[i]
		if !w.coincides {
			continue
		}
		group, user := w.group(c), users[h.userOf[w.job]].of(w)
		if w.named && (!group.Found() || c.Named.part() > group.part()) {
			group, user = &c.Named, &Excess{}
		}
		if !group.Found() && !user.Found() {
			continue
		}
		if confidence := confidence(group, user, firsts.likelihood(w.first)); confidence >= leastConfidence {
			deps = append(deps, Dependency{
				Job: w.job, After: w.after, Kind: AfterAny, Confidence: confidence, Evidence: h.evidence(w),
			})
		}
	}
	return deps
}

// tally fills in the groups of c, and returns the same by user.
func (h *history) tally(rest []waited, c *Chains) []userExcess {
	named := measureSign(rest, func(w *waited) bool { return w.named })
	users := make([]userExcess, len(h.users))
	for i := range rest {
		w := &rest[i]
		group, user := w.group(c), users[h.userOf[w.job]].of(w)
		c.Named.expect(w.chance * named.elsewhere)
		group.expect(w.chance)
		user.expect(w.chance)
		switch {
		case w.coincides && w.named:
			c.Named.Coincided++
		case w.coincides:
			group.Coincided++
			user.Coincided++
		}
	}
	return users
}

// userExcess is one user's coincidences without names that count on.
type userExcess struct{ heldBack, others Excess }

func (u *userExcess) of(w *waited) *Excess {
	if w.heldBack {
		return &u.heldBack
	}
	return &u.others
}

// group returns where w counts unless its name counts on.
func (w *waited) group(c *Chains) *Excess {
	if w.heldBack {
		return &c.HeldBack
	}
	return &c.Others
}

// confidence returns the part of the user's coincidences that chance does not
// give, drawn to that of the group by the weight of two coincidences, after a
// sign of that likelihood ratio.
func confidence(group, user *Excess, likelihood float64) float64 {
	n := float64(user.Coincided)
	prior := min(0.98, (user.part()*n+2*group.part())/(n+2))
	odds := prior / (1 - prior) * likelihood
	return odds / (1 + odds)
}

// sign is how often something is seen at coincidences, and at other starts of
// jobs during whose wait an own job ended.
type sign struct{ coinciding, elsewhere float64 }

func measureSign(rest []waited, shown func(*waited) bool) sign {
	var seen, of [2]float64
	for i := range rest {
		w := &rest[i]
		if w.after < 0 {
			continue
		}
		where := 0
		if w.coincides {
			where = 1
		}
		of[where]++
		if shown(w) {
			seen[where]++
		}
	}
	return sign{coinciding: (seen[1] + 0.5) / (of[1] + 1), elsewhere: (seen[0] + 0.5) / (of[0] + 1)}
}

// likelihood returns how much more often the sign is shown, or not shown, at
// coincidences; it never counts for more than a factor of twenty.
func (s sign) likelihood(shown bool) float64 {
	r := s.coinciding / s.elsewhere
	if !shown {
		r = (1 - s.coinciding) / (1 - s.elsewhere)
	}
	return max(0.05, min(20, r))
}

func (h *history) evidence(w *waited) string {
	j, after := &h.jobs[w.job], &h.jobs[w.after]
	said := []string{fmt.Sprintf("started %s after %s (%s) ended", j.Start.Sub(after.End), after.ID, after.Name)}
	say := func(shown bool, words string) {
		if shown {
			said = append(said, words)
		}
	}
	say(w.named, "its name counts on")
	say(w.first, "first of its user in line")
	say(w.heldBack, "held back while there was room and others overtook it")
	return strings.Join(said, "; ")
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
