package api

import (
	"context"
	"io"
	"time"

	"github.com/segue-project/segue"
)

// Advisor says when to submit. Its errors have the kinds of the root package:
// Invalid for a question that makes no sense, Unavailable while nothing is known of
// the queue.
type Advisor interface {
	// Advise answers whether to submit the next link of a chain now.
	Advise(ctx context.Context, q Question) (Advice, error)
	// Forecast says how long a submission now would wait.
	Forecast(ctx context.Context, cluster string, r segue.Request) (Outlook, error)
}

// Question asks whether to submit the next link of a chain now.
type Question struct {
	Cluster string // empty: the server's own
	Request segue.Request
	// Predecessor is the job that the next link follows; nil where Remaining, how
	// long it still runs, is given instead.
	Predecessor *segue.JobID
	Remaining   time.Duration
	Prefer      segue.Preference
	MaxLead     time.Duration // 0: no cap
}

// Outlook is a forecast, with what it is based on.
type Outlook struct {
	Cluster  string
	Source   string // "scheduler", or "history" where no scheduler is asked
	Data     segue.Time
	Now      segue.Time
	Running  int // jobs
	Pending  int
	Forecast segue.Forecast
	// Notes are sentences about what of the question could not count.
	Notes []string
}

// Advice is a decision, with what it is based on.
type Advice struct {
	Outlook
	Decision segue.Decision
}

// Chains are the chains of all users.
type Chains interface {
	// Chains returns a page of chains, the latest first.
	Chains(ctx context.Context, q ChainQuery) ([]segue.Chain, error)
	// Chain returns a chain without its submission.
	Chain(ctx context.Context, id string) (segue.Chain, error)
	Links(ctx context.Context, id string) ([]segue.Link, error)
	// Decisions returns a page of the decisions of a chain, the latest first.
	Decisions(ctx context.Context, q DecisionQuery) ([]Recorded, error)
	// Create takes over a chain of a user, who has submitted its first link. Invalid
	// says that this user's chains are not kept going here, Conflict that there is a
	// chain of this ID, or one of this job.
	Create(ctx context.Context, chain segue.Chain, first segue.Link) error
	// SetState moves a chain from one state to another; Conflict says that it is in
	// a third by now.
	SetState(ctx context.Context, id string, from, to segue.ChainState, why string) error
}

// ChainQuery says which chains: those that meet all of its fields.
type ChainQuery struct {
	User   string // empty: everybody's
	States []segue.ChainState
	Limit  int
	// Before, with the ID of a chain, is where the page before ended.
	Before   segue.Time
	BeforeID string
}

// DecisionQuery says which decisions of a chain: the latest ones, or those before the
// one where the page before ended.
type DecisionQuery struct {
	Chain string
	Limit int
	// Before is when that one was made, segue.Never for none, and the others are of its
	// link: decisions of one instant are in the order of these.
	Before                segue.Time
	BeforeLink, BeforeTry int
}

// Recorded is a decision about a link, with what came of it.
type Recorded struct {
	Number, Attempt int // of the link
	Decision        segue.Decision
	// Known says whether the outcome of the hand-over is known.
	Known                 bool
	Interruption, Overlap time.Duration
}

// Histories are what is known of the past of clusters.
type Histories interface {
	Histories(ctx context.Context) ([]History, error)
	// Import adds what it reads to the history of a cluster. The format is
	// recognised unless it is named.
	Import(ctx context.Context, cluster, format string, body io.Reader) (Imported, error)
	// Statistics describes the history of a cluster.
	Statistics(ctx context.Context, cluster string) (Statistics, error)
}

// Models are the trained models that a server knows.
type Models interface {
	Models(ctx context.Context) ([]Model, error)
	// Promote makes a model the champion, and the server follow, for a reason that is one
	// line. NotFound says that there is no such model, or no folder of models; Conflict
	// that it is damaged, or the champion already.
	Promote(ctx context.Context, id, reason string) (Promotion, error)
	// RollBack makes the champion before the expected one the champion again. NotFound
	// says that there is no champion, or none before it; Conflict that the champion is
	// another one by now, or that the one before it is damaged.
	RollBack(ctx context.Context, expected, reason string) (Promotion, error)
}

// Tokens are the secrets by which programs are known.
type Tokens interface {
	// Token returns the token whose secret has the SHA-256, in hexadecimal; NotFound
	// where there is none.
	Token(ctx context.Context, hash string) (Token, error)
}

// Auditor keeps the audit log.
type Auditor interface {
	Begin(ctx context.Context, line AuditLine) error
	End(ctx context.Context, id string, status int, detail string) error
	// Lines returns the latest lines before the one where a page ended.
	Lines(ctx context.Context, before segue.Time, beforeID string, limit int) ([]AuditLine, error)
}

// Answers are answers to writes that may be asked for again.
type Answers interface {
	// Claim keeps a place for an answer, and reports whether the caller is the one to
	// work it out; otherwise known is what there is, with status 0 while somebody
	// works it out. One that nobody has given within a span is given up: whoever was
	// to give it is gone. Keep keeps the fingerprint too, which has come to be known.
	Claim(ctx context.Context, a Answer, within time.Duration) (known Answer, mine bool, err error)
	Keep(ctx context.Context, a Answer) error
	Drop(ctx context.Context, owner, key string) error
}

// Answer is what was answered to a write.
type Answer struct {
	Owner, Key  string
	Fingerprint string // of the request; once there is an answer, of its body too
	// At is when the place was taken, of one that is known.
	At     segue.Time
	Status int
	Kind   string // Content-Type
	Body   []byte
}

// Health tells whether a server does its work.
type Health interface {
	Checks(ctx context.Context) []Check
}

// Services are what the interface stands on. All are required.
type Services struct {
	Advisor   Advisor
	Chains    Chains
	Histories Histories
	Models    Models
	Tokens    Tokens
	Auditor   Auditor
	Answers   Answers
	Health    Health
	Feed      *Feed
}
