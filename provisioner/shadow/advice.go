package shadow

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Advice is one line of what was advised about a running job, as it was written
// down at the time: whether its user should submit the next one now.
type Advice struct {
	At       time.Time `json:"at"`
	Job      string    `json:"job"` // ID
	User     string    `json:"user"`
	Name     string    `json:"name"`
	Nodes    int       `json:"nodes"`
	Limit    string    `json:"limit"` // as sacct prints it
	Left     float64   `json:"remaining_hours"`
	Submit   bool      `json:"submit"`
	SubmitAt time.Time `json:"submit_at"`
	Policy   string    `json:"policy"`
	Model    string    `json:"model,omitempty"`
	Reason   string    `json:"reason"`
	// Waits are the forecast quantiles of the wait, in hours: the least, every
	// tenth, and the greatest.
	Waits []float64 `json:"wait_hours"`
}

// NewAdvice returns the line of a decision about a running job of that name.
func NewAdvice(job segue.QueuedJob, name string, d segue.Decision) Advice {
	a := Advice{
		At: d.At.Std(), Job: job.ID.String(), User: job.User, Name: name, Nodes: job.Nodes, Limit: segue.FormatLimit(job.Limit),
		Left: d.Remaining.Hours(), Submit: d.Submit, SubmitAt: d.SubmitAt.Std(), Policy: d.Policy, Model: d.Model, Reason: d.Reason,
	}
	for k := range 11 {
		a.Waits = append(a.Waits, d.Forecast.Quantile(float64(k)/10).Hours())
	}
	return a
}

// ReadAdvice reads lines of advice. Those that cannot be read are counted, and the
// first is told of: a watch that was ended may leave half a line.
func ReadAdvice(r io.Reader) (all []Advice, unreadable int, first error) {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return all, unreadable, fmt.Errorf("read advice: %w", err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if a, wrong := parseAdvice(line); wrong == nil {
				all = append(all, a)
			} else if unreadable++; first == nil {
				first = segue.Errorf(segue.Corrupt, "line %d of the advice: %w", n, wrong)
			}
		}
		if err == io.EOF {
			return all, unreadable, first
		}
	}
}

func parseAdvice(line []byte) (a Advice, err error) {
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if _, err := segue.ParseJobID(a.Job); err != nil {
		return a, err
	}
	if a.At.IsZero() || a.SubmitAt.Before(a.At) {
		return a, segue.Errorf(segue.Corrupt, "want an instant, and a submission not before it")
	}
	return a, nil
}

// advised is when to ask what was advised: by job, in the order of time.
type advised map[string][]Advice

func byJob(all []Advice) advised {
	jobs := advised{}
	for _, a := range all {
		jobs[a.Job] = append(jobs[a.Job], a)
	}
	for _, list := range jobs {
		slices.SortStableFunc(list, func(a, b Advice) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
	}
	return jobs
}

// follow returns the advice by which the successor of a job is submitted, and when:
// the first that says so, or that names an instant after which no other came within
// a minute. Nil where the job ends first.
func (a advised) follow(job *segue.Job) (*Advice, segue.Time) {
	var held *Advice
	for i := range a[job.ID.String()] {
		now := &a[job.ID.String()][i]
		at := segue.TimeOf(now.At)
		if at <= job.Start || at >= job.End {
			continue
		}
		if held != nil && segue.TimeOf(held.SubmitAt).Add(atOnce) <= at {
			break
		}
		if held = now; now.Submit {
			return now, at
		}
	}
	if held == nil {
		return nil, job.End
	}
	next := held.next()
	if next >= job.End {
		return nil, job.End
	}
	return held, next
}

// next returns when what is to wait is submitted, or asked about again.
func (a *Advice) next() segue.Time { return nextAfter(segue.TimeOf(a.At), segue.TimeOf(a.SubmitAt)) }

// nextAfter returns the instant to ask again after advice to wait: nobody does within a
// minute.
func nextAfter(at, submitAt segue.Time) segue.Time { return max(submitAt, at.Add(time.Minute)) }

// decision returns the advice as a decision, with what of it was written down.
func (a *Advice) decision() *segue.Decision {
	return &segue.Decision{
		At: segue.TimeOf(a.At), Policy: a.Policy, Model: a.Model, Remaining: time.Duration(a.Left * float64(time.Hour)),
		Submit: a.Submit, SubmitAt: segue.TimeOf(a.SubmitAt), Reason: a.Reason,
	}
}

// about counts the lines about a job while it ran.
func (a advised) about(job *segue.Job) (n int) {
	for i := range a[job.ID.String()] {
		if at := segue.TimeOf(a[job.ID.String()][i].At); at > job.Start && at < job.End {
			n++
		}
	}
	return n
}
