package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

const (
	description = `{"openapi":"3.0.2","paths":{"/slurm/v0.0.38/jobs":{},"/slurm/v0.0.40/jobs/":{},"/slurm/v0.0.99/jobs/":{},"/slurmdb/v0.0.40/jobs/":{"get":{"parameters":[{"name":"step"},{"name":"show_duplicates"}]}},"/openapi/v3":{}}}`
	pong        = `{"meta":{"slurm":{"release":"23.11.1","cluster":"alpha"}},"errors":[],"pings":[]}`
	oneNode     = `{"errors":[],"nodes":[{"name":"n1","state":["IDLE"],"partitions":["gpu"],"gres":"gpu:4"}]}`
	noJobs      = `{"errors":[],"jobs":[]}`
	upToDate    = `{"errors":[],"statistics":{"agent_queue_size":7,"dbd_agent_queue_size":0}}`
)

// says is a slurmrestd 23.11 that answers as told, by the end of the path.
func says(t *testing.T, answers map[string]http.HandlerFunc) Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, h := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				h(w, r)
				return
			}
		}
		for end, text := range map[string]string{"/openapi/v3": description, "/ping/": pong, "/nodes/": oneNode, "/jobs/": noJobs, "/diag/": upToDate} {
			if strings.HasSuffix(r.URL.Path, end) {
				_, _ = io.WriteString(w, text)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return Config{URL: server.URL, User: "ada", Token: func() (string, error) { return "secret", nil }, Now: func() segue.Time { return noon }}
}

func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut announces more than it sends, and hangs up.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"jobs":[{"job_id":1`)
}

func driver(t *testing.T, cfg Config) *Driver {
	t.Helper()
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheNewestVersionThatBothKnow(t *testing.T) {
	t.Parallel()
	cfg := says(t, map[string]http.HandlerFunc{"/ping/": func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-SLURM-USER-NAME") != "ada" || r.Header.Get("X-SLURM-USER-TOKEN") != "secret" {
			http.Error(w, "Authentication failure", http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/slurm/v0.0.40/ping/" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, pong)
	}})
	got, err := driver(t, cfg).Capabilities(t.Context())
	want := schedulers.Capabilities{
		Version: "slurm 23.11.1", Cluster: "alpha", Accounting: true, TokenSearch: true, Hold: true, Nice: true, Signals: true,
		Lingers: 2 * time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	cfg.Version = "v0.0.38" // there is no API of the accounting in it
	if got, err := driver(t, cfg).Capabilities(t.Context()); err == nil {
		t.Errorf("a ping that is not found gives %+v", got)
	}
	cfg.Version = "v0.0.41"
	if _, err := driver(t, cfg).Capabilities(t.Context()); segue.KindOf(err) != segue.Invalid {
		t.Errorf("a version that is not there: %v, want an error of kind invalid", err)
	}
}

// slurmrestd is upgraded while an agent looks.
func TestAVersionThatGoesAway(t *testing.T) {
	t.Parallel()
	gone := false
	d := driver(t, says(t, map[string]http.HandlerFunc{
		"/openapi/v3": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.ReplaceAll(description, "v0.0.40", map[bool]string{false: "v0.0.40", true: "v0.0.42"}[gone]))
		},
		"/slurm/v0.0.40/jobs/": func(w http.ResponseWriter, r *http.Request) {
			if gone {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, noJobs)
		},
	}))
	for i, want := range []bool{true, false, true} {
		gone = i > 0
		if _, err := d.State(t.Context()); (err == nil) != want {
			t.Errorf("question %d: %v, want an answer: %t", i+1, err, want)
		}
	}
}

func TestAddressesThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "slurmrestd:6820", "ftp://host", "http://", "unix://relative/path", "unix://", "http://host\n"} {
		if _, err := New(Config{URL: u}); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%q: %v, want an error of kind invalid", u, err)
		}
	}
}

// Reports 11, 12, 15 and 23, over HTTP: what is not an answer is never an empty
// queue.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]http.HandlerFunc{
		"an error of a proxy":                  {"/jobs/": reply(502, "<html><h1>502 Bad Gateway</h1></html>")},
		"a page of a proxy with status 200":    {"/jobs/": reply(200, "<!DOCTYPE html><html>Please log in</html>")},
		"a page that is not found":             {"/jobs/": reply(404, "<html>Not Found</html>")},
		"a redirection":                        {"/jobs/": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }},
		"nothing":                              {"/jobs/": reply(200, "")},
		"status 204":                           {"/jobs/": reply(204, "")},
		"an answer that breaks off":            {"/jobs/": cut},
		"JSON that breaks off":                 {"/jobs/": reply(200, `{"errors":[],"jobs":[{"job_id":1,"job_state":["RUNN`)},
		"a banner before the JSON":             {"/jobs/": reply(200, "Welcome to the Stampede3 Supercomputer\n"+noJobs)},
		"a list instead of an answer":          {"/jobs/": reply(200, `[]`)},
		"null":                                 {"/jobs/": reply(200, `null`)},
		"no list of jobs":                      {"/jobs/": reply(200, `{"errors":[],"warnings":[]}`)},
		"a list of jobs that is null":          {"/jobs/": reply(200, `{"errors":[],"jobs":null}`)},
		"jobs that are no list":                {"/jobs/": reply(200, `{"errors":[],"jobs":{"1":{}}}`)},
		"errors with status 200":               {"/jobs/": reply(200, `{"errors":[{"error":"Unable to contact slurm controller (connect failure)","error_number":1800}],"jobs":[]}`)},
		"errors that nobody has seen":          {"/jobs/": reply(200, `{"errors":["something"],"jobs":[]}`)},
		"an error without a text":              {"/jobs/": reply(200, `{"errors":[{}],"jobs":[]}`)},
		"an unspecified error":                 {"/jobs/": reply(500, `{"errors":[{"description":"Failed while looking for jobs","error_number":-1,"error":"Unspecified error"}],"jobs":[]}`)},
		"status 500 and an empty queue":        {"/jobs/": reply(500, noJobs)},
		"an invalid request":                   {"/jobs/": reply(400, `{"errors":[{"error":"Invalid query"}],"jobs":[]}`)},
		"a token that has expired":             {"/jobs/": reply(401, "Authentication failure")},
		"a user who may not":                   {"/jobs/": reply(403, "Forbidden")},
		"jobs of which none can be read":       {"/jobs/": reply(200, `{"errors":[],"jobs":[{"id":1},{"id":2}]}`)},
		"nodes of which none can be read":      {"/nodes/": reply(200, `{"errors":[],"nodes":[{"node":"n1"}]}`)},
		"no nodes":                             {"/nodes/": reply(200, `{"errors":[],"nodes":[]}`)},
		"nodes that cannot be had":             {"/nodes/": reply(503, "busy")},
		"an answer that is too large":          {"/jobs/": reply(200, `{"jobs":[],"padding":"`+strings.Repeat("x", 5000)+`"}`)},
		"a description that is none":           {"/openapi/v3": reply(200, `{"paths":[]}`)},
		"a page instead of a description":      {"/openapi/v3": reply(200, `<html>`)},
		"a ping that is answered by something": {"/ping/": reply(200, `{"pong":true}`)},
	}
	for name, answers := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := says(t, answers)
			cfg.MaxAnswer = 4000
			s, err := driver(t, cfg).State(t.Context())
			if segue.KindOf(err) != segue.Unavailable {
				t.Errorf("%d jobs, error %v of kind %s, want kind unavailable", len(s.Jobs), err, segue.KindOf(err))
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"unix://" + t.TempDir() + "/nothing.socket", "http://" + unusedAddress(t)} {
		d := driver(t, Config{URL: u})
		if _, err := d.State(t.Context()); segue.KindOf(err) != segue.Unavailable {
			t.Errorf("%s: %v, want an error of kind unavailable", u, err)
		}
		_, err := d.Submit(t.Context(), plain())
		if segue.KindOf(err) != segue.Unavailable || errors.Is(err, schedulers.ErrAmbiguous) {
			t.Errorf("%s: submit: %v, want an error of kind unavailable that is not ambiguous", u, err)
		}
	}
}

// unusedAddress is where nothing listens any more.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestAServerThatIsSlow(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	hang := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}
	cfg := says(t, map[string]http.HandlerFunc{"/jobs/": hang, "/job/submit": hang})
	t.Cleanup(func() { close(done) }) // before the server is closed, which waits for its handlers
	cfg.Timeout = 50 * time.Millisecond
	d := driver(t, cfg)
	if _, err := d.State(t.Context()); segue.KindOf(err) != segue.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("state: %v, want an error of kind unavailable for the deadline", err)
	}
	if _, err := d.Submit(t.Context(), plain()); !errors.Is(err, schedulers.ErrAmbiguous) || segue.KindOf(err) != segue.Unavailable {
		t.Errorf("submit: %v, want an ambiguous error", err)
	}
}

// plain is a submission that can be said over REST in any version.
func plain() schedulers.Submission {
	return schedulers.Submission{Token: "segue:abc/1.1", Submission: segue.Submission{
		Args: []string{"--time=60", "train.sh"}, ScriptAt: 1, Script: []byte("#!/bin/sh\n"), Env: []string{"PATH=/bin"}, Dir: "/home/ada",
	}}
}

// Reports 1 to 3, 5 and 78, over HTTP.
func TestWhatSubmissionsAreAnswered(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer    http.HandlerFunc
		want      int64
		kind      segue.Kind
		ambiguous bool
	}{
		"a number":                     {answer: reply(200, `{"job_id":1234,"errors":[],"warnings":[]}`), want: 1234},
		"a number in the result":       {answer: reply(200, `{"result":{"job_id":1234},"errors":[]}`), want: 1234},
		"a number, and a complaint":    {answer: reply(200, `{"errors":[{"error_code":2042,"error":"Job is in held state, pending scheduler release"}],"job_id":1234}`), want: 1234},
		"nothing, but all is well":     {answer: reply(200, `{"errors":[]}`), kind: segue.Unavailable, ambiguous: true},
		"a proxy's page":               {answer: reply(504, `<html>Gateway Timeout</html>`), kind: segue.Unavailable, ambiguous: true},
		"an answer that breaks off":    {answer: cut, kind: segue.Unavailable, ambiguous: true},
		"no answer from the socket":    {answer: reply(500, `{"errors":[{"error_code":5004,"error":"Socket timed out on send/recv operation"}]}`), kind: segue.Unavailable, ambiguous: true},
		"no controller":                {answer: reply(500, `{"errors":[{"error_code":1800,"error":"Unable to contact slurm controller (connect failure)"}]}`), kind: segue.Unavailable, ambiguous: true},
		"an unspecified error":         {answer: reply(500, `{"errors":[{"error_code":-1,"error":"Unspecified error"}]}`), kind: segue.Unavailable, ambiguous: true},
		"a token that has expired":     {answer: reply(401, `Authentication failure`), kind: segue.Unavailable},
		"too many jobs of the user":    {answer: reply(500, `{"errors":[{"error_code":2050,"error":"Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"}]}`), kind: segue.Unavailable},
		"a partition that is not":      {answer: reply(500, `{"errors":[{"error_code":2000,"error":"Invalid partition name specified"}]}`), kind: segue.Invalid},
		"a property that is not":       {answer: reply(400, `{"errors":[{"description":"Unknown key \"x\"","source":"hsearch_r"},{"error_code":9001,"error":"Failure during parsing"}]}`), kind: segue.Invalid},
		"a number of nodes beyond all": {answer: reply(500, `{"errors":[{"error_code":2006,"error":"Node count specification invalid"}]}`), kind: segue.Invalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := driver(t, says(t, map[string]http.HandlerFunc{"/job/submit": tt.answer})).Submit(t.Context(), plain())
			if got.Job.Number != tt.want || segue.KindOf(err) != tt.kind || errors.Is(err, schedulers.ErrAmbiguous) != tt.ambiguous {
				t.Errorf("job %s, error %v; want %d, kind %s, ambiguous %t", got.Job, err, tt.want, tt.kind, tt.ambiguous)
			}
		})
	}
}

func TestWhatBecomesOfRequests(t *testing.T) {
	t.Parallel()
	job := segue.JobID{Number: 12, Sub: 3, Kind: segue.ArrayTask}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		kind   segue.Kind
		none   bool
	}{
		"done":                 {answer: reply(200, `{"errors":[],"results":[{"job_id":12,"error_code":0,"error":"No error","why":""}]}`), none: true},
		"it is to be held":     {answer: reply(500, `{"errors":[{"error_number":2042,"error":"Job is in held state, pending scheduler release"}]}`), none: true},
		"there is no such job": {answer: reply(500, `{"errors":[{"error_number":2017,"error":"Invalid job id specified"}]}`), kind: segue.NotFound},
		"it has ended":         {answer: reply(500, `{"errors":[{"error_number":2021,"error":"Job/step already completing or completed"}]}`), kind: segue.Conflict},
		"it is somebody's":     {answer: reply(500, `{"errors":[{"error_number":2002,"error":"Access/permission denied"}]}`), kind: segue.Invalid},
		"one of its tasks":     {answer: reply(200, `{"errors":[],"results":[{"job_id":12,"error_code":2021,"error":"Job/step already completing or completed"}]}`), kind: segue.Conflict},
		"a page":               {answer: reply(404, `<html>`), kind: segue.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driver(t, says(t, map[string]http.HandlerFunc{"/job/12_3": tt.answer}))
			for what, err := range map[string]error{
				"cancel": d.Cancel(t.Context(), job), "hold": d.Hold(t.Context(), job), "release": d.Release(t.Context(), job),
				"nice": d.SetNice(t.Context(), job, 5), "signal": d.Signal(t.Context(), job, 10),
			} {
				if (err == nil) != tt.none || segue.KindOf(err) != tt.kind {
					t.Errorf("%s: error %v, want kind %s", what, err, tt.kind)
				}
			}
		})
	}
	if err := driver(t, says(t, nil)).Requeue(t.Context(), []segue.JobID{job}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("requeue: %v, want an error of kind invalid", err)
	}
}

// Without its comments the accounting cannot tell that a job was never there.
func TestTokensInTheAccounting(t *testing.T) {
	t.Parallel()
	record := func(id int, comment, line string) string {
		c, _ := json.Marshal(comment)
		l, _ := json.Marshal(line)
		return fmt.Sprintf(`{"job_id":%d,"user":"ada","comment":{"job":%s},"submit_line":%s,"state":{"current":["COMPLETED"]},"time":{"submission":1}}`, id, c, l)
	}
	tests := map[string]struct {
		records []string
		want    []segue.JobID
		kind    segue.Kind
	}{
		"in a comment":                               {records: []string{record(1, "", ""), record(2, "mine segue:abc/1.1", "")}, want: []segue.JobID{{Number: 2}}},
		"in a command line":                          {records: []string{record(1, "", "sbatch --comment=segue:abc/1.1 x")}, want: []segue.JobID{{Number: 1}}},
		"twice, of a job that was requeued":          {records: []string{record(1, "segue:abc/1.1", ""), record(1, "segue:abc/1.1", "")}, want: []segue.JobID{{Number: 1}}},
		"a longer one":                               {records: []string{record(1, "segue:abc/1.10", "")}},
		"nowhere, and it keeps comments":             {records: []string{record(1, "", ""), record(2, "another", "")}},
		"nowhere, and there are the command lines":   {records: []string{record(1, "", "sbatch x")}},
		"nowhere, but it may be one without comment": {records: []string{record(1, "", "")}, kind: segue.Unavailable},
		"nowhere that can be read":                   {records: []string{`{"job_id":[]}`}, kind: segue.Unavailable},
		"no jobs at all":                             {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driver(t, says(t, map[string]http.HandlerFunc{"/slurmdb/v0.0.40/jobs/": reply(200, `{"errors":[],"jobs":[`+strings.Join(tt.records, ",")+`]}`)}))
			got, err := d.FindByToken(t.Context(), "segue:abc/1.1", noon.Add(-time.Hour))
			if diff := cmp.Diff(tt.want, got); diff != "" || segue.KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %s (-want +got):\n%s", err, tt.kind, diff)
			}
		})
	}
}

// Report 17: of a job that was requeued the last run counts, and the earlier ones
// are asked for.
func TestRunsOfARequeuedJob(t *testing.T) {
	t.Parallel()
	run := func(submission int, state string) string {
		return fmt.Sprintf(`{"job_id":7,"state":{"current":[%q]},"time":{"submission":{"set":true,"number":%d}}}`, state, submission)
	}
	d := driver(t, says(t, map[string]http.HandlerFunc{"/slurmdb/v0.0.40/jobs/": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "step=7%2C13_4&show_duplicates=true" {
			t.Errorf("it was asked %q", r.URL.RawQuery)
		}
		_, _ = io.WriteString(w, `{"errors":[],"jobs":[`+run(10, "PREEMPTED")+`,`+run(30, "COMPLETED")+`,`+run(20, "PREEMPTED")+`]}`)
	}}))
	got, err := d.Status(t.Context(), []segue.JobID{{Number: 7}, {Number: 13, Sub: 4, Kind: segue.ArrayTask}})
	want := map[segue.JobID]schedulers.Status{
		{Number: 7}: {Life: schedulers.Ended, State: segue.Completed, Submit: segue.Seconds(30), Start: segue.NoTime, End: segue.NoTime, Restarts: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A job that the accounting does not know is an answer in some versions, and an
// error in others.
func TestStatusOfAJobThatNeverWas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		kind   segue.Kind
	}{
		"an empty list":    {answer: reply(200, noJobs)},
		"a nothing found":  {answer: reply(404, `{"errors":[{"error_number":9003,"error":"Nothing found with query"}],"jobs":[]}`)},
		"slurmdbd is down": {answer: reply(500, `{"errors":[{"error_number":7000,"error":"Unable to connect to database"}],"jobs":[]}`), kind: segue.Unavailable},
		"no list":          {answer: reply(200, `{"errors":[]}`), kind: segue.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driver(t, says(t, map[string]http.HandlerFunc{"/slurmdb/v0.0.40/jobs/": tt.answer}))
			got, err := d.Status(t.Context(), []segue.JobID{{Number: 7}})
			if len(got) != 0 || segue.KindOf(err) != tt.kind || (err == nil) != (tt.kind == segue.Other) {
				t.Errorf("%v, %v; want nothing and kind %s", got, err, tt.kind)
			}
		})
	}
}

// What slurmdbd has not been told yet proves nothing.
func TestAnAccountingThatLagsProvesNothing(t *testing.T) {
	t.Parallel()
	lags := reply(200, `{"errors":[],"statistics":{"dbd_agent_queue_size":{"set":true,"infinite":false,"number":2}}}`)
	for name, tt := range map[string]struct {
		diag    http.HandlerFunc
		missing int
		kind    segue.Kind
	}{
		"it is up to date":    {diag: reply(200, upToDate)},
		"it lags":             {diag: lags, missing: 2},
		"nobody says whether": {diag: reply(200, `{"errors":[]}`), kind: segue.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := says(t, map[string]http.HandlerFunc{"/diag/": tt.diag})
			cfg.Remembers = 5 * time.Minute
			d := driver(t, cfg)
			ledger, err := d.Ledger(t.Context(), noon.Add(-time.Hour))
			if segue.KindOf(err) != tt.kind || ledger.Missing != tt.missing {
				t.Errorf("%d records are missing, error %v; want %d and kind %s", ledger.Missing, err, tt.missing, tt.kind)
			}
			if tt.missing > 0 && ledger.From != noon.Add(-5*time.Minute) {
				t.Errorf("it is complete from %s on, want 5 minutes before noon", ledger.From)
			}
			_, err = d.FindByToken(t.Context(), "segue:abc/1.1", noon.Add(-time.Hour))
			if want := tt.missing == 0 && tt.kind == segue.Other; (err == nil) != want {
				t.Errorf("that no job carries the token is an answer %t, want %t: %v", err == nil, want, err)
			}
		})
	}
}
