package web

import (
	"context"
	"time"

	"github.com/segue-project/segue"
)

// Viewer is who looks at a page.
type Viewer struct {
	User string
	Via  string // how it is known, for the audit log: "dashboard, token 4f7c2a"
	// MayChange is whether the viewer may pause, resume and stop own chains. An
	// Operator may do so with everybody's, sees everything, and promotes models.
	MayChange, Operator bool
}

// Visitors tell who has a secret.
type Visitors interface {
	// Viewer returns whose secret it is: NotFound for nobody's, or that of a token
	// that is not valid or allows nothing.
	Viewer(ctx context.Context, secret string) (Viewer, error)
}

// Cluster is the present.
type Cluster interface {
	// Queue returns what waits and runs now.
	Queue(ctx context.Context) (Queue, error)
	// Outlooks returns how long submissions of the next day would wait, for the
	// shapes that matter now; none while they are not worked out.
	Outlooks(ctx context.Context) ([]Outlook, error)
	// Recent returns how long jobs of a shape waited that started in the week before
	// the end of the history.
	Recent(ctx context.Context, shape segue.Shape) (Recent, error)
	// Standing returns how the server does.
	Standing(ctx context.Context) (Standing, error)
}

// Queue is a cluster at one instant.
type Queue struct {
	Cluster string
	// Live is false where there is no scheduler: then it is the end of the history.
	Live             bool
	At               segue.Time
	Nodes, IdleNodes int // in service
	Shapes           []ShapeCount
}

// ShapeCount is the jobs of one shape.
type ShapeCount struct {
	Shape            segue.Shape
	Running, Pending int
	Longest          time.Duration // that one of those pending has waited
}

// Outlook is how long a submission of a shape would wait, now and later. The instant
// of each forecast is that of the submission.
type Outlook struct {
	Shape     segue.Shape
	Forecasts []segue.Forecast // the first is now
}

// Recent is how long jobs waited that started from From until Until.
type Recent struct {
	From, Until segue.Time
	Waits       segue.Forecast // of which each is one job
}

// Standing is how a server does.
type Standing struct {
	Checks  []Check
	Leaders []Leader
	Version string
}

// Check is one thing that a server needs, or does. Whether a model or a planner
// decides is the state of the one named "model".
type Check struct {
	Name  string
	OK    bool
	State string
}

// Leader is a process that has a lease: it alone does what the lease is for.
type Leader struct{ What, Holder string }

// Chains are the chains of all users.
type Chains interface {
	// Chains returns a page of chains, the latest first.
	Chains(ctx context.Context, q ChainQuery) ([]segue.Chain, error)
	// Count returns how many chains of a user, with "" of all, are in each state.
	Count(ctx context.Context, user string) (map[segue.ChainState]int, error)
	// Chain returns a chain without its submission.
	Chain(ctx context.Context, id string) (segue.Chain, error)
	Links(ctx context.Context, id string) ([]segue.Link, error)
	// Decisions returns the latest n decisions of a chain before a place, the latest
	// first.
	Decisions(ctx context.Context, id string, before Place, n int) ([]Recorded, error)
	// Open returns the latest decision of each chain of a user, with "" of all, whose
	// next link has not started.
	Open(ctx context.Context, user string) ([]Recorded, error)
	// Handovers returns the latest n links of a user, with "" of all, that were
	// submitted by a decision since an instant and have started.
	Handovers(ctx context.Context, user string, since segue.Time, n int) ([]Handover, error)
	// SetState moves a chain from one state to another; Conflict says that it is in
	// a third by now.
	SetState(ctx context.Context, by Viewer, id string, from, to segue.ChainState, why string) error
}

// Place is that of a decision among those of a chain, which are in the order of its
// fields.
type Place struct {
	At              segue.Time
	Number, Attempt int // of the link
}

// ChainQuery says which chains: those that meet all of its fields.
type ChainQuery struct {
	User  string // empty: everybody's
	State *segue.ChainState
	Limit int
	// Before, with the ID of a chain, is where the page before ended.
	Before   segue.Time
	BeforeID string
}

// Recorded is a decision about a link, with what came of it.
type Recorded struct {
	Chain           string
	Number, Attempt int // of the link
	Decision        segue.Decision
	Known           bool // whether the outcome is
	Interruption    time.Duration
	Overlap         time.Duration
}

// Handover is a link that was submitted by a decision, and started.
type Handover struct {
	Recorded
	Submitted, Start segue.Time
}

// Models are the trained models.
type Models interface {
	// Models returns them, the latest first.
	Models(ctx context.Context) ([]Model, error)
	// Promote makes a model the champion. Conflict says that it is already.
	Promote(ctx context.Context, by Viewer, id, reason string) error
	// Rollback makes the champion before the present one the champion again, and
	// returns it. Expected is the present one: Conflict says that it is no longer.
	Rollback(ctx context.Context, by Viewer, expected, reason string) (string, error)
}

// Model is a trained model.
type Model struct {
	ID          string
	State       string // "champion", "former champion", "kept", "new", "damaged"
	Champion    bool   // whether promotions have chosen it, damaged or not
	Error       string // why it cannot be used
	Reason      string // of what was last decided about it
	Created     segue.Time
	From, Until segue.Time // of the history that it was trained on
	Jobs        int64
	Nodes       int
	Parent      string
	Policies    []string
	Metrics     map[string]float64
	InUse       bool // whether this server asks it
}

// Histories are what is known of the past of clusters.
type Histories interface {
	Histories(ctx context.Context) ([]History, error)
	// Coverage returns how well a history covers its time, which takes a moment.
	Coverage(ctx context.Context, cluster string) (Coverage, error)
}

// History is what is known of the past of a cluster.
type History struct {
	Cluster string
	Jobs    int64
	// First and Last are of submissions, Seen is the latest snapshot, and up to
	// Accounted the accounting was asked; NoTime for none.
	First, Last, Seen, Accounted segue.Time
}

// Coverage is how well a history covers its time.
type Coverage struct {
	Estimated     int64 // jobs known from snapshots only, whose end is a guess
	Snapshots     int64
	FirstSnapshot segue.Time
	Days          []Day // that have jobs, the earliest first
}

// Day is a day of a history, in UTC.
type Day struct {
	Begin segue.Time
	Jobs  int64
}

// Trainings are the runs of the nightly training.
type Trainings interface {
	// Trainings returns the latest n, the latest first.
	Trainings(ctx context.Context, n int) ([]Training, error)
	// Log returns the last most bytes of the log of a training, and how long it is.
	Log(ctx context.Context, id string, most int64) (tail []byte, size int64, err error)
}

// Training is one run.
type Training struct {
	ID, Cluster, Cause string
	Started, Ended     segue.Time // Ended is NoTime while it runs
	State, Step, Why   string
	Model              string
	HasLog             bool
	ScheduledFor       segue.Time // NoTime for one by hand
}

// Services are what the pages stand on. All are required.
type Services struct {
	Visitors  Visitors
	Cluster   Cluster
	Chains    Chains
	Models    Models
	Histories Histories
	Trainings Trainings
}
