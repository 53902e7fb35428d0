package api

import (
	"context"
	"math"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/segue-project/segue"
)

// HandOver is a chain whose first link its user has submitted, as it is handed to a
// server that submits the later ones. Spans are durations such as 48h0m0s.
type HandOver struct {
	Name        string             `json:"name" maxLength:"1024" doc:"The job name of its links." example:"train"`
	Created     string             `json:"created" format:"date-time"`
	Nodes       int                `json:"nodes" minimum:"1" maximum:"10000000"`
	GPUsPerNode int                `json:"gpus_per_node,omitempty" minimum:"0" maximum:"1000"`
	TimeLimit   string             `json:"time_limit,omitempty" doc:"Of each link, as sbatch reads it, or a duration; unlimited for none, nothing for the scheduler's default." example:"48:00:00"`
	Partition   string             `json:"partition,omitempty" maxLength:"1024"`
	Account     string             `json:"account,omitempty" maxLength:"1024"`
	QOS         string             `json:"qos,omitempty" maxLength:"1024"`
	Terms       HandOverTerms      `json:"terms"`
	Submission  HandOverSubmission `json:"submission"`
	Link        HandOverLink       `json:"link" doc:"The first link."`
}

// HandOverTerms are the terms of a chain; what is missing is not asked for.
type HandOverTerms struct {
	Prefer          string  `json:"prefer,omitempty" doc:"no-gap, balanced, no-waste, or hours of overlap worth one of interruption; default balanced."`
	MaxLinks        int     `json:"max_links,omitempty" minimum:"0"`
	MaxTime         string  `json:"max_time,omitempty"`
	DoneFile        string  `json:"done_file,omitempty" maxLength:"4096" doc:"An absolute path."`
	DoneCodes       []int   `json:"done_codes,omitempty" maxItems:"256"`
	Startup         string  `json:"startup,omitempty"`
	MinLead         string  `json:"min_lead,omitempty"`
	MaxLead         string  `json:"max_lead,omitempty"`
	FastFail        string  `json:"fast_fail,omitempty"`
	MaxFastFails    int     `json:"max_fast_fails,omitempty" minimum:"0"`
	MaxGPUHours     float64 `json:"max_gpu_hours,omitempty" minimum:"0"`
	StopPredecessor bool    `json:"stop_predecessor,omitempty"`
	ReadyDir        string  `json:"ready_dir,omitempty" maxLength:"4096" doc:"The folder in which links say that they are of use: an absolute path."`
}

// HandOverSubmission is what later links replay. What a user typed may be any bytes,
// and is in base64.
type HandOverSubmission struct {
	Args     [][]byte        `json:"args" doc:"Arguments of sbatch."`
	ScriptAt int             `json:"script_at" minimum:"-1" doc:"Which of them names the script; -1 for none."`
	Script   []byte          `json:"script,omitempty"`
	Env      [][]byte        `json:"env" doc:"K=V"`
	Dir      []byte          `json:"dir" doc:"Working directory: an absolute path."`
	Umask    uint32          `json:"umask" maximum:"511"`
	Limits   []HandOverLimit `json:"limits,omitempty" maxItems:"64"`
}

// HandOverLimit is a limit of getrlimit(2).
type HandOverLimit struct {
	Name string  `json:"name" pattern:"^[A-Z]{1,16}$" example:"NOFILE"`
	Soft *uint64 `json:"soft" doc:"null for none."`
	Hard *uint64 `json:"hard" doc:"null for none."`
}

// HandOverLink is the first link.
type HandOverLink struct {
	State     string `json:"state" enum:"submitting,queued" doc:"submitting where nobody has seen whether it made a job: then the scheduler is asked."`
	Job       string `json:"job,omitempty" doc:"Its number, where it is queued."`
	Planned   string `json:"planned" format:"date-time" doc:"Where it is submitting, at most a day ago."`
	Submitted string `json:"submitted,omitempty" format:"date-time"`
}

// HandOverOf returns a chain and its first link as they are handed over. Names of which
// bytes are no UTF-8 are told with U+FFFD in their place, as a store keeps them: links
// are submitted with the submission's own. An error is Invalid: a path, for which that
// would be another one.
func HandOverOf(c segue.Chain, first segue.Link) (HandOver, error) {
	if err := c.Terms.Validate(); err != nil {
		return HandOver{}, err
	}
	t, s := c.Terms, c.Submission
	h := HandOver{
		Name: asText(c.Name), Created: c.Created.String(), Nodes: c.Request.Nodes, GPUsPerNode: c.Request.GPUsPerNode,
		Partition: asText(c.Request.Partition), Account: asText(c.Request.Account), QOS: asText(c.Request.QOS),
		Terms: HandOverTerms{
			MaxLinks: t.MaxLinks, MaxTime: spanText(t.MaxTime), DoneFile: t.DoneFile, DoneCodes: t.DoneCodes, Startup: spanText(t.Startup),
			MinLead: spanText(t.MinLead), MaxLead: spanText(t.MaxLead), FastFail: spanText(t.FastFail), MaxFastFails: t.MaxFastFails,
			MaxGPUHours: t.MaxGPUHours, StopPredecessor: t.StopPredecessor, ReadyDir: t.ReadyDir,
		},
		Submission: HandOverSubmission{
			Args: bytesOf(s.Args), ScriptAt: s.ScriptAt, Script: s.Script, Env: bytesOf(s.Env), Dir: []byte(s.Dir), Umask: s.Umask,
		},
		Link: HandOverLink{State: first.State.String(), Job: jobOf(first.Job), Planned: first.Planned.String()},
	}
	switch c.Request.Limit {
	case 0:
	case segue.Unlimited:
		h.TimeLimit = "unlimited"
	default:
		h.TimeLimit = c.Request.Limit.String()
	}
	if t.Prefer != 0 {
		h.Terms.Prefer = t.Prefer.String()
	}
	if first.Submitted.Known() {
		h.Link.Submitted = first.Submitted.String()
	}
	for _, l := range s.Limits {
		h.Submission.Limits = append(h.Submission.Limits, HandOverLimit{l.Name, boundOf(l.Soft), boundOf(l.Hard)})
	}
	return h, nil
}

func asText(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

type (
	handOverInput struct {
		ID   string `path:"id" pattern:"^[a-z0-9]{6,32}$" example:"k3v9q2" doc:"A name that the caller makes up, and by which it may hand the chain over again."`
		Body HandOver
	}
	handOverOutput struct {
		Status int
		Body   ChainWithLinks
	}
)

// handOverOperation describes the request.
func (a *API) handOverOperation() huma.Operation {
	op := operation("hand-over-chain", http.MethodPut, "/v1/chains/{id}", "chains", "Hand over a chain whose first link is submitted")
	op.Description = "The server submits the later links, as the caller. The same chain may be handed over again, by whoever did not hear the answer."
	op.DefaultStatus = http.StatusCreated
	op.Middlewares = huma.Middlewares{a.fewHandOvers}
	op.Responses = map[string]*huma.Response{"200": {Description: "It was taken over before: this is what has become of it."}}
	return op
}

// handOver takes a chain over, once: again it answers with what became of it.
func (a *API) handOver(ctx context.Context, in *handOverInput) (*handOverOutput, error) {
	caller, _ := callerOf(ctx)
	status := http.StatusOK
	// Before anything is refused, and after: who does not hear that it was taken would
	// have another one keep it going.
	chain, err := a.takenOver(ctx, in, caller)
	if segue.KindOf(err) == segue.NotFound {
		var first segue.Link
		if chain, first, err = in.Body.read(in.ID, caller.User, a.cfg.Now()); err == nil {
			status, err = http.StatusCreated, a.services.Chains.Create(ctx, chain, first)
		}
		if err != nil {
			if taken, known := a.takenOver(ctx, in, caller); known == nil {
				chain, status, err = taken, http.StatusOK, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	out, err := a.shown(ctx, chain)
	if err != nil {
		return nil, err
	}
	return &handOverOutput{Status: status, Body: out.Body}, nil
}

// takenOver returns the chain that was handed over before. NotFound says that there is
// none, Conflict that another one has its ID.
func (a *API) takenOver(ctx context.Context, in *handOverInput, caller Caller) (segue.Chain, error) {
	chain, err := a.services.Chains.Chain(ctx, in.ID)
	if err == nil && (chain.User != caller.User || chain.Created.String() != in.Body.Created) {
		err = segue.Errorf(segue.Conflict, "the ID %s is another chain's", in.ID)
	}
	return chain, err
}

// oldest is how long ago a chain may have been made that is handed over. The scheduler
// is asked for its job from then on.
const oldest = 30 * 24 * time.Hour

// oldestOpen is how long ago a first link may have been planned of which nobody has seen
// whether it made a job: as long a past is gone through in every round until it is told.
const oldestOpen = 24 * time.Hour

// early is how far ahead of this machine's clock the caller's may be.
const early = 10 * time.Minute

// read returns the chain of a user, or an error of kind Invalid.
func (h HandOver) read(id, user string, now segue.Time) (segue.Chain, segue.Link, error) {
	none := func(err error) (segue.Chain, segue.Link, error) { return segue.Chain{}, segue.Link{}, err }
	var c reading
	chain := segue.Chain{
		ID: id, Name: h.Name, User: user, Created: c.instant("created", h.Created, now), State: segue.ChainActive,
		Request: segue.Request{
			Shape: segue.Shape{Nodes: h.Nodes, GPUsPerNode: h.GPUsPerNode, Limit: segue.Unlimited},
			User:  user, Account: h.Account, Partition: h.Partition, QOS: h.QOS,
		},
		Terms: segue.Terms{
			MaxLinks: h.Terms.MaxLinks, MaxTime: c.span("terms.max_time", h.Terms.MaxTime), DoneFile: c.path("terms.done_file", h.Terms.DoneFile),
			DoneCodes: h.Terms.DoneCodes, Startup: c.span("terms.startup", h.Terms.Startup), MinLead: c.span("terms.min_lead", h.Terms.MinLead),
			MaxLead: c.span("terms.max_lead", h.Terms.MaxLead), FastFail: c.span("terms.fast_fail", h.Terms.FastFail), MaxFastFails: h.Terms.MaxFastFails,
			MaxGPUHours: h.Terms.MaxGPUHours, StopPredecessor: h.Terms.StopPredecessor, ReadyDir: c.path("terms.ready_dir", h.Terms.ReadyDir),
		},
		Submission: segue.Submission{
			Args: c.texts("submission.args", h.Submission.Args), ScriptAt: h.Submission.ScriptAt, Script: h.Submission.Script,
			Env: c.texts("submission.env", h.Submission.Env), Dir: c.path("submission.dir", string(h.Submission.Dir)), Umask: h.Submission.Umask,
		},
	}
	for _, l := range h.Submission.Limits {
		chain.Submission.Limits = append(chain.Submission.Limits, segue.ResourceLimit{Name: l.Name, Soft: boundIn(l.Soft), Hard: boundIn(l.Hard)})
	}
	first := segue.Link{
		Chain: id, Number: 1, Attempt: 1, Planned: c.instant("link.planned", h.Link.Planned, now), Submitted: segue.NoTime,
		Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	if h.Link.Submitted != "" {
		first.Submitted = c.instant("link.submitted", h.Link.Submitted, now)
	}
	if c.err != nil {
		return none(c.err)
	}
	var err error
	switch {
	case h.TimeLimit == "":
		chain.Request.Limit = 0
	case !strings.EqualFold(h.TimeLimit, "unlimited"):
		if chain.Request.Limit, err = limitOf("time_limit", h.TimeLimit); err != nil {
			return none(err)
		}
	}
	if h.Terms.Prefer != "" {
		if chain.Terms.Prefer, err = segue.ParsePreference(h.Terms.Prefer); err != nil {
			return none(err)
		}
	}
	if first.State, err = segue.ParseLinkState(h.Link.State); err != nil {
		return none(segue.Errorf(segue.Invalid, "link.state: %w", err))
	}
	if h.Link.Job != "" {
		if first.Job, err = segue.ParseJobID(h.Link.Job); err != nil {
			return none(err)
		}
	}
	switch at := h.Submission.ScriptAt; {
	case chain.Request.Limit <= 0 && h.TimeLimit != "":
		err = segue.Errorf(segue.Invalid, "time_limit: %s, want more than 0", h.TimeLimit)
	case chain.Submission.Dir == "":
		err = segue.Errorf(segue.Invalid, "submission.dir is empty, want an absolute path")
	case at >= len(h.Submission.Args):
		err = segue.Errorf(segue.Invalid, "submission.script_at: %d of %d arguments", at, len(h.Submission.Args))
	case at >= 0 && strings.Trim(path.Base(chain.Submission.Args[at]), "./") == "":
		err = segue.Errorf(segue.Invalid, "submission.args: %q is no name of a script", chain.Submission.Args[at])
	case (first.State == segue.LinkQueued) != (first.Job.Number != 0 && first.Submitted.Known()):
		err = segue.Errorf(segue.Invalid, "link: a queued one has a job and when it was submitted, another one has neither")
	case first.State == segue.LinkSubmitting && now.Sub(first.Planned) > oldestOpen:
		err = segue.Errorf(segue.Invalid, "link.planned: %s, want at most a day ago where nobody has seen whether it made a job", first.Planned)
	default:
		err = chain.Terms.Validate()
	}
	return chain, first, err
}

// reading reads parts of a chain, until the first that makes no sense.
type reading struct{ err error }

func (r *reading) refuse(format string, args ...any) {
	if r.err == nil {
		r.err = segue.Errorf(segue.Invalid, format, args...)
	}
}

func (r *reading) instant(name, text string, now segue.Time) segue.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.refuse("%s: %w", name, err)
		return segue.NoTime
	}
	if t := segue.TimeOf(at); now.Sub(t) > oldest || t.Sub(now) > early {
		r.refuse("%s: %s, want at most 30 days ago, and not later than now (%s)", name, t, now)
	}
	return segue.TimeOf(at)
}

func (r *reading) span(name, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		r.refuse("%s: %w", name, err)
	}
	return d
}

func (r *reading) path(name, text string) string {
	if text != "" && !path.IsAbs(text) || strings.ContainsRune(text, 0) {
		r.refuse("%s: %q, want an absolute path", name, text)
	}
	return text
}

func (r *reading) texts(name string, all [][]byte) []string {
	var texts []string
	for i, b := range all {
		if strings.ContainsRune(string(b), 0) {
			r.refuse("%s[%d] has a byte 0, which no process can be given", name, i)
		}
		texts = append(texts, string(b))
	}
	return texts
}

func spanText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func boundOf(n uint64) *uint64 {
	if n == math.MaxUint64 {
		return nil
	}
	return &n
}

func boundIn(n *uint64) uint64 {
	if n == nil {
		return math.MaxUint64
	}
	return *n
}

func bytesOf(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, t := range texts {
		all[i] = []byte(t)
	}
	return all
}
