package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/segue-project/segue"
)

type (
	chainsInput struct {
		Page
		User  string   `query:"user" maxLength:"200" doc:"Whose chains. Only an operator asks for others', and sees everybody's without it."`
		State []string `query:"state" enum:"active,paused,done,stopped,failed" doc:"In which states; default any."`
	}
	chainsOutput struct {
		Body struct {
			Chains []ChainAnswer `json:"chains"`
			Next   string        `json:"next,omitempty" doc:"Where the next page begins: its cursor. Missing on the last page."`
		}
	}
	// ChainInput names a chain.
	ChainInput struct {
		ID string `path:"id" maxLength:"200" example:"k3v9q2"`
	}
	chainOutput struct{ Body ChainWithLinks }
)

// ChainWithLinks is a chain with its links.
type ChainWithLinks struct {
	ChainAnswer
	Links []LinkAnswer `json:"links" doc:"All of them, the first one first."`
}

// ChainAnswer is a chain without what was captured at its submission: an
// environment holds secrets.
type ChainAnswer struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	User        string   `json:"user"`
	Created     string   `json:"created" format:"date-time"`
	State       string   `json:"state" enum:"active,paused,done,stopped,failed"`
	Why         string   `json:"why,omitempty" doc:"Why it is in this state."`
	Nodes       int      `json:"nodes"`
	GPUsPerNode int      `json:"gpus_per_node,omitempty"`
	TimeLimit   *float64 `json:"time_limit_seconds" doc:"Of each link; null for unlimited, 0 for the scheduler's default."`
	Partition   string   `json:"partition,omitempty"`
	Account     string   `json:"account,omitempty"`
	QOS         string   `json:"qos,omitempty"`
	Prefer      string   `json:"prefer"`
	MaxLinks    int      `json:"max_links,omitempty" doc:"After how many links it is over; missing for no bound."`
}

// LinkAnswer is one job of a chain.
type LinkAnswer struct {
	Number    int     `json:"number"`
	Attempt   int     `json:"attempt" doc:"From 1. Another one follows an attempt that was lost."`
	State     string  `json:"state" enum:"submitting,queued,running,ended,lost" doc:"Lost is an attempt of which nothing ran: its submission made no job, or the scheduler took the job and lost it before it started. It is not counted as a link."`
	Job       string  `json:"job,omitempty" doc:"Of the scheduler; missing until it is known."`
	Planned   *string `json:"planned" format:"date-time"`
	Submitted *string `json:"submitted" format:"date-time"`
	Start     *string `json:"start" format:"date-time"`
	End       *string `json:"end" format:"date-time" doc:"Of a running one: when its limit ends it."`
	Ready     *string `json:"ready" format:"date-time" doc:"When it said that it is of use."`
	Ended     string  `json:"ended,omitempty" doc:"How it ended."`
	ExitCode  int     `json:"exit_code"`
	Signal    int     `json:"signal"`
	Restarts  int     `json:"restarts"`
}

// ChainOf returns a chain as the interface shows it.
func ChainOf(c segue.Chain) ChainAnswer {
	return ChainAnswer{
		ID: c.ID, Name: c.Name, User: c.User, Created: c.Created.String(), State: c.State.String(), Why: c.Why,
		Nodes: c.Request.Nodes, GPUsPerNode: c.Request.GPUsPerNode, TimeLimit: seconds(c.Request.Limit),
		Partition: c.Request.Partition, Account: c.Request.Account, QOS: c.Request.QOS,
		Prefer: c.Terms.WithDefaults().Prefer.String(), MaxLinks: c.Terms.MaxLinks,
	}
}

// LinkOf returns a link as the interface shows it.
func LinkOf(l segue.Link) LinkAnswer {
	out := LinkAnswer{
		Number: l.Number, Attempt: l.Attempt, State: l.State.String(), Job: jobOf(l.Job),
		Planned: instant(l.Planned), Submitted: instant(l.Submitted), Start: instant(l.Start), End: instant(l.End), Ready: instant(l.Ready),
		ExitCode: l.ExitCode, Signal: l.Signal, Restarts: l.Restarts,
	}
	if l.State.Final() {
		out.Ended = l.Ended.String()
	}
	return out
}

func (a *API) listChains(ctx context.Context, in *chainsInput) (*chainsOutput, error) {
	caller, _ := callerOf(ctx)
	q := ChainQuery{User: in.User, Limit: in.Limit}
	if !caller.Operator() {
		if q.User != "" && q.User != caller.User {
			return nil, forbidden("user " + q.User + ": only an operator sees others' chains")
		}
		q.User = caller.User
	}
	for _, name := range in.State {
		state, err := segue.ParseChainState(name)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "%w", err)
		}
		q.States = append(q.States, state)
	}
	var err error
	if q.Before, q.BeforeID, err = in.cursor(); err != nil {
		return nil, err
	}
	chains, err := a.services.Chains.Chains(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &chainsOutput{}
	out.Body.Chains = []ChainAnswer{}
	for _, c := range chains {
		out.Body.Chains = append(out.Body.Chains, ChainOf(c))
	}
	if n := len(chains); n == in.Limit {
		out.Body.Next = cursorOf(chains[n-1].Created, chains[n-1].ID)
	}
	return out, nil
}

// chain returns a chain that the caller may see. Others' are as none.
func (a *API) chain(ctx context.Context, id string) (segue.Chain, error) {
	caller, _ := callerOf(ctx)
	c, err := a.services.Chains.Chain(ctx, id)
	if segue.KindOf(err) == segue.NotFound || err == nil && c.User != caller.User && !caller.Operator() {
		return segue.Chain{}, segue.Errorf(segue.NotFound, "there is no chain %q of yours", id)
	}
	return c, err
}

func (a *API) getChain(ctx context.Context, in *ChainInput) (*chainOutput, error) {
	c, err := a.chain(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return a.shown(ctx, c)
}

func (a *API) shown(ctx context.Context, c segue.Chain) (*chainOutput, error) {
	links, err := a.services.Chains.Links(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	out := &chainOutput{}
	out.Body.ChainAnswer, out.Body.Links = ChainOf(c), []LinkAnswer{}
	for _, l := range links {
		out.Body.Links = append(out.Body.Links, LinkOf(l))
	}
	return out, nil
}

// stateChange is one of the things that a user does to a chain.
type stateChange struct {
	verb, summary string
	from          []segue.ChainState
	to            segue.ChainState
}

var stateChanges = []stateChange{
	{"pause", "Submit no more links of a chain until it is resumed", []segue.ChainState{segue.ChainActive}, segue.ChainPaused},
	{"resume", "Let a paused chain go on", []segue.ChainState{segue.ChainPaused}, segue.ChainActive},
	{"stop", "End a chain: what runs goes on to its end, and no link follows", []segue.ChainState{segue.ChainActive, segue.ChainPaused}, segue.ChainStopped},
}

func (s stateChange) why(c segue.Chain, caller Caller) string {
	switch {
	case s.to == segue.ChainActive:
		return ""
	case caller.User == c.User:
		return fmt.Sprintf("%s by its user.", past[s.verb])
	}
	return fmt.Sprintf("%s by %s, an operator.", past[s.verb], caller.User)
}

var past = map[string]string{"pause": "Paused", "stop": "Stopped"}

func (a *API) changeState(s stateChange) func(context.Context, *ChainInput) (*chainOutput, error) {
	return func(ctx context.Context, in *ChainInput) (*chainOutput, error) {
		c, err := a.chain(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(s.from, c.State) {
			return nil, segue.Errorf(segue.Conflict, "chain %s is %s already. %s", c.ID, c.State, c.Why)
		}
		caller, _ := callerOf(ctx)
		why := s.why(c, caller)
		if err := a.services.Chains.SetState(ctx, c.ID, c.State, s.to, why); err != nil {
			return nil, err
		}
		c.State, c.Why = s.to, why
		return a.shown(ctx, c)
	}
}

type (
	decisionsInput struct {
		ChainInput
		Limit  int    `query:"limit" default:"20" minimum:"1" maximum:"500" doc:"How many at most, the latest ones."`
		Cursor string `query:"cursor" maxLength:"500" doc:"Where the page begins: next of the page before."`
	}
	decisionsOutput struct {
		Body struct {
			Decisions []DecisionAnswer `json:"decisions"`
			Next      string           `json:"next,omitempty" doc:"Where the page of earlier ones begins: its cursor. Missing on the last page."`
		}
	}
)

// DecisionAnswer is a decision about a link, with what came of it.
type DecisionAnswer struct {
	Link         int                 `json:"link" doc:"The number of the link that it is about."`
	Attempt      int                 `json:"attempt"`
	At           string              `json:"at" format:"date-time"`
	Decision     string              `json:"decision" enum:"submit,wait"`
	SubmitAt     *string             `json:"submit_at" format:"date-time"`
	Reason       string              `json:"reason"`
	Policy       string              `json:"policy"`
	Model        string              `json:"model"`
	Prefer       string              `json:"prefer"`
	Remaining    *float64            `json:"remaining_seconds"`
	Wait         []Quantile          `json:"wait_quantiles"`
	Alternatives []AlternativeAnswer `json:"alternatives"`
	Outcome      *OutcomeAnswer      `json:"outcome" doc:"What came of it; null while it is not known."`
}

// OutcomeAnswer is what became of the hand-over to a link.
type OutcomeAnswer struct {
	Interruption float64 `json:"interruption_seconds"`
	Overlap      float64 `json:"overlap_seconds"`
}

func (a *API) listDecisions(ctx context.Context, in *decisionsInput) (*decisionsOutput, error) {
	if _, err := a.chain(ctx, in.ID); err != nil {
		return nil, err
	}
	q := DecisionQuery{Chain: in.ID, Limit: in.Limit, Before: segue.Never}
	if in.Cursor != "" {
		at, link, err := Page{Cursor: in.Cursor}.cursor()
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Sscanf(link, "%d.%d", &q.BeforeLink, &q.BeforeTry); err != nil {
			return nil, noCursor(in.Cursor)
		}
		q.Before = at
	}
	decisions, err := a.services.Chains.Decisions(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &decisionsOutput{}
	out.Body.Decisions = []DecisionAnswer{}
	for _, r := range decisions {
		d := r.Decision
		line := DecisionAnswer{
			Link: r.Number, Attempt: r.Attempt, At: d.At.String(), Decision: verdict(d), SubmitAt: instant(d.SubmitAt), Reason: d.Reason,
			Policy: d.Policy, Model: d.Model, Prefer: d.Prefer.String(), Remaining: seconds(d.Remaining),
			Wait: basisOf(Outlook{Forecast: d.Forecast}).Wait, Alternatives: alternativesOf(d.Alternatives),
		}
		if r.Known {
			line.Outcome = &OutcomeAnswer{spanSeconds(r.Interruption), spanSeconds(r.Overlap)}
		}
		out.Body.Decisions = append(out.Body.Decisions, line)
	}
	if n := len(decisions); n == in.Limit {
		last := decisions[n-1]
		out.Body.Next = cursorOf(last.Decision.At, fmt.Sprintf("%d.%d", last.Number, last.Attempt))
	}
	return out, nil
}
