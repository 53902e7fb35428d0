package synthetic

import (
	"time"

	"github.com/segue-project/segue"
)

// NoLimit switches off a limit of Config.
const NoLimit = -1

// The shares and lengths that Config starts from.
const (
	defaultDuration = 120 * 24 * time.Hour
	// defaultStart is a Monday.
	defaultStart = 1704067200 // 2024-01-01
	maxNodes     = 1 << 20
)

// Config says what cluster and what history to make. The zero Config is four
// months of a cluster like the one in docs/synthetic.md.
type Config struct {
	// Seed decides everything that is random. Default 0.
	Seed uint64
	// Start is the first instant of the history, after 1970; hours and weekdays
	// are counted as if it were local time. Default 2024-01-01, a Monday.
	Start segue.Time
	// Duration is the time during which jobs are submitted. Default 120 days, or
	// no limit when Jobs is set.
	Duration time.Duration
	// Jobs ends the history after so many rows. Default no limit.
	Jobs int
	// Nodes is the number of nodes. Default 76.
	Nodes int
	// GPUsPerNode and CPUsPerNode describe a node. Defaults 3 and 128.
	GPUsPerNode int
	CPUsPerNode int
	// Users is the number of people who may submit. Default 300.
	Users int
	// Load is the long-run mean of the node-hours asked for (as really run, not
	// as limits) over those there are. Default 0.85; over 1 the queue grows until
	// limits and impatience end it.
	Load float64
	// PartNode is the part of one-node scripts that take some GPUs of a shared
	// node instead of the whole node, in [0, 1]. Default 0.
	PartNode float64
	// MaxRunning and MaxQueued limit the running jobs of a user, and the queued
	// and running ones together: a submission beyond MaxQueued is refused and
	// leaves no row. Defaults 8 and 40; NoLimit switches one off.
	MaxRunning int
	MaxQueued  int
	// Unscheduled leaves the waiting out: each job starts when it is submitted,
	// or when the link of the chain before it ends, as if the cluster had no end
	// and no limits. Such a history is the input of a replay.
	Unscheduled bool
}

func (c Config) withDefaults() Config {
	set := func(value *int, to int) {
		if *value == 0 {
			*value = to
		}
	}
	if c.Start == 0 {
		c.Start = segue.Seconds(defaultStart)
	}
	if c.Duration == 0 && c.Jobs == 0 {
		c.Duration = defaultDuration
	}
	set(&c.Nodes, 76)
	set(&c.GPUsPerNode, 3)
	set(&c.CPUsPerNode, 128)
	set(&c.Users, 300)
	set(&c.MaxRunning, 8)
	set(&c.MaxQueued, 40)
	if c.Load == 0 {
		c.Load = 0.85
	}
	return c
}

// Validate refuses a configuration that describes no cluster, naming the field
// and the rule. Its error has kind Invalid.
func (c Config) Validate() error {
	c = c.withDefaults()
	refuse := func(field string, got any, want string) error {
		return segue.Errorf(segue.Invalid, "synthetic history: %s is %v, want %s", field, got, want)
	}
	switch {
	case c.Start < 0 || c.Start == segue.Never:
		return refuse("Start", c.Start, "an instant after 1970")
	case c.Duration < 0:
		return refuse("Duration", c.Duration, "more than 0")
	case c.Jobs < 0:
		return refuse("Jobs", c.Jobs, "more than 0")
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return refuse("Nodes", c.Nodes, "1 to 1048576")
	case c.GPUsPerNode < 1 || c.GPUsPerNode > 64:
		return refuse("GPUsPerNode", c.GPUsPerNode, "1 to 64")
	case c.CPUsPerNode < 1 || c.CPUsPerNode > 4096:
		return refuse("CPUsPerNode", c.CPUsPerNode, "1 to 4096")
	case c.Users < 1 || c.Users > 99999:
		return refuse("Users", c.Users, "1 to 99999")
	case !(c.Load > 0 && c.Load <= 10):
		return refuse("Load", c.Load, "more than 0, at most 10")
	case !(c.PartNode >= 0 && c.PartNode <= 1):
		return refuse("PartNode", c.PartNode, "0 to 1")
	case c.MaxRunning < NoLimit:
		return refuse("MaxRunning", c.MaxRunning, "1 or more, or NoLimit")
	case c.MaxQueued < NoLimit:
		return refuse("MaxQueued", c.MaxQueued, "1 or more, or NoLimit")
	}
	return nil
}
