package web

import (
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// browser is a visitor without a script.
type browser struct {
	tb     testing.TB
	w      *Web
	cookie *http.Cookie
	csrf   string
}

// login returns a browser in which somebody has logged in.
func login(tb testing.TB, w *Web, secret string) *browser {
	tb.Helper()
	b := &browser{tb: tb, w: w, csrf: csrfOf(secret)}
	answer := b.post("/login", url.Values{"token": {secret}})
	if answer.Code != http.StatusSeeOther || len(answer.Result().Cookies()) != 1 {
		tb.Fatalf("login: %d, cookies %v", answer.Code, answer.Result().Cookies())
	}
	b.cookie = answer.Result().Cookies()[0]
	return b
}

func (b *browser) do(r *http.Request) *httptest.ResponseRecorder {
	b.tb.Helper()
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	rec := httptest.NewRecorder()
	b.w.ServeHTTP(rec, r)
	return rec
}

func (b *browser) get(path string, header ...string) *httptest.ResponseRecorder {
	b.tb.Helper()
	r := httptest.NewRequestWithContext(b.tb.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.do(r)
}

func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	b.tb.Helper()
	r := httptest.NewRequestWithContext(b.tb.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// allPages are all pages that an operator sees of a full house.
var allPages = []string{
	"/", "/chains", "/chains?state=active", "/chains/c00", "/chains/c00?decisions=2", "/chains/c00/pause", "/chains/c00/stop", "/chains/c13/resume",
	"/forecasts", "/models", "/models?a=m1&b=m3", "/models/promote?id=m3", "/models/rollback", "/history", "/trainings", "/trainings/20260301-020000",
	"/login",
}

func TestPagesWithSomeOfEverything(t *testing.T) {
	t.Parallel()
	b := login(t, fullHouse("trainer").serve(t), operates)
	for _, path := range allPages {
		answer := b.get(path)
		if answer.Code != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, answer.Code, answer.Body)
		}
		wantAccessible(t, path, answer.Body.String())
	}
}

func TestPagesOfAnEmptyInstallation(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{operates, adaReads} {
		b := login(t, emptyHouse().serve(t), secret)
		for _, path := range []string{"/", "/chains", "/forecasts", "/models", "/history", "/trainings"} {
			answer := b.get(path)
			if answer.Code != http.StatusOK {
				t.Errorf("%s: %d\n%s", path, answer.Code, answer.Body)
			}
			wantAccessible(t, path, answer.Body.String())
		}
		if page := b.get("/").Body.String(); !strings.Contains(page, "what to do first") || !strings.Contains(page, "segue sbatch --segue-chain train.sh") {
			t.Errorf("the overview does not say what to do first:\n%s", page)
		}
	}
}

// What an operator is told to type works on the store of the server, not on that of
// whoever types it; and nobody else learns where that is.
func TestOperatorsAreToldToWorkOnTheServersStore(t *testing.T) {
	t.Parallel()
	for store, want := range map[string]string{
		"":                      "DATABASE_URL",
		"/var/lib/segue.db":     " --store /var/lib/segue.db",
		"/srv/it's here/s.db":   ` --store '/srv/it'\''s here/s.db'`,
		"/srv/$(reboot)/$HOME":  " --store '/srv/$(reboot)/$HOME'",
		"/srv/größe/segue-1.db": " --store /srv/größe/segue-1.db",
	} {
		w, err := New(emptyHouse().services(), Config{Now: func() segue.Time { return t0 }, Store: store, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/", "/history", "/trainings"} {
			if page := html.UnescapeString(login(t, w, operates).get(path).Body.String()); !strings.Contains(page, want) {
				t.Errorf("with a store in %q, %s lacks %q:\n%s", store, path, want, page)
			}
			if page := login(t, w, adaReads).get(path).Body.String(); strings.Contains(page, "--store") {
				t.Errorf("with a store in %q, %s tells a user:\n%s", store, path, page)
			}
		}
	}
}

// Which model decides stands once on the overview, and leads to the models.
func TestTheOverviewSaysOnceWhatDecides(t *testing.T) {
	t.Parallel()
	page := login(t, fullHouse("trainer").serve(t), operates).get("/").Body.String()
	if n := strings.Count(page, "m2"); n != 1 || !strings.Contains(page, `<a href="/models">model</a>: m2 decides`) {
		t.Errorf("the overview names the model %d times, want once:\n%s", n, page)
	}
}

// A chain whose decisions have no forecast, and whose links never started.
func TestPagesOfAHalfKnownChain(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	h.links = []segue.Link{{Chain: "c00", Number: 1, Attempt: 2, State: segue.LinkLost, Planned: segue.NoTime, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime}}
	h.decisions = []Recorded{{Chain: "c00", Number: 2, Decision: segue.Decision{At: segue.NoTime, SubmitAt: segue.NoTime}}}
	h.handovers = []Handover{{Recorded: h.decisions[0], Submitted: t0, Start: t0}}
	h.outlooks = []Outlook{{}, {Forecasts: []segue.Forecast{{}}}}
	b := login(t, h.serve(t), operates)
	for _, path := range allPages {
		if answer := b.get(path); answer.Code != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, answer.Code, answer.Body)
		}
	}
}

// A chain of months has thousands of decisions: all of them can be come to.
func TestAllDecisionsOfAChainAreReachedPageByPage(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	h.decisions = nil
	for i := range 1200 {
		h.decisions = append(h.decisions, Recorded{Chain: "c00", Number: 2, Attempt: 1, Decision: decision(t0.Add(-time.Duration(i)*time.Minute), false)})
	}
	b := login(t, h.serve(t), operates)
	earlier := regexp.MustCompile(`<a href="([^"]*)">Show earlier decisions</a>`)
	var got []int
	for path := ""; len(got) < 6; {
		page := b.get("/chains/c00" + path).Body.String()
		got = append(got, strings.Count(page, "<article"))
		if latest := strings.Contains(page, "Show the latest decisions"); latest != strings.Contains(path, "before") {
			t.Errorf("%q: it leads to the latest ones: %t", path, latest)
		}
		link := earlier.FindStringSubmatch(page)
		if link == nil {
			break
		}
		path = html.UnescapeString(link[1])
	}
	if diff := cmp.Diff([]int{12, 500, 500, 200}, got); diff != "" {
		t.Errorf("decisions on the pages (-want +got):\n%s", diff)
	}
	if answer := b.get("/chains/c00?before=yesterday"); answer.Code != http.StatusBadRequest {
		t.Errorf("a place that is none: %d, want 400", answer.Code)
	}
}

// An attempt of which nothing ran is shown, with what became of it, and is no link.
func TestLostAttemptsAreNoLinks(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	lost := segue.Link{Chain: "c00", Number: 2, Attempt: 1, State: segue.LinkLost, Job: segue.JobID{Number: 77}, Planned: t0, Submitted: t0, Start: segue.NoTime, End: t0, Ready: segue.NoTime}
	none := lost
	none.Attempt, none.Job = 2, segue.JobID{}
	ran := lost
	ran.Attempt, ran.State, ran.Start, ran.Job = 3, segue.LinkRunning, t0, segue.JobID{Number: 78}
	h.links = []segue.Link{lost, none, ran}
	page := login(t, h.serve(t), operates).get("/chains/c00").Body.String()
	for _, want := range []string{
		"1 link; between them", "2 more attempts came to nothing.", "lost</span> by the scheduler before it started</td><td>77</td>", "lost</span> made no job</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestHostileNamesAreText(t *testing.T) {
	t.Parallel()
	b := login(t, fullHouse(hostile).serve(t), operates)
	for _, path := range append(allPages, "/chains?user="+url.QueryEscape(hostile), "/login?next="+url.QueryEscape(hostile), "/no"+url.PathEscape(hostile)) {
		page := b.get(path).Body.String()
		for _, never := range []string{"<script>alert", "<img src=x", `onerror=alert(1)>"`, "</title></script>"} {
			if strings.Contains(page, never) {
				t.Errorf("%s holds %s", path, never)
			}
		}
	}
}

// A page of a slow link is small: markup, style and script together.
func TestTheOverviewDeniesNoHistoryThatItLists(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"There is neither a scheduler nor a history.", "No scheduler is asked.", "No scheduler is asked."} {
		h := fullHouse("trainer")
		h.queue, h.histories = Queue{}, nil
		for i := range n {
			h.histories = append(h.histories, History{Cluster: fmt.Sprint("c", i), Jobs: 9, First: t0, Last: t0})
		}
		page := login(t, h.serve(t), operates).get("/").Body.String()
		if !strings.Contains(page, want) {
			t.Errorf("with %d histories the overview does not say %q", n, want)
		}
	}
}

func TestOverviewIsSmall(t *testing.T) {
	t.Parallel()
	b := login(t, fullHouse("trainer").serve(t), operates)
	size := b.get("/").Body.Len()
	for name := range assets {
		size += b.get(assetPath(name)).Body.Len()
	}
	if size >= 100_000 {
		t.Errorf("the first page takes %d bytes, want less than 100,000", size)
	}
	t.Logf("the first page takes %d bytes", size)
}

// wantAccessible wants what a screen reader finds its way by: a language, a title,
// one main heading, landmarks, a caption in every table, a heading of each column.
func wantAccessible(t *testing.T, path, page string) {
	t.Helper()
	for text, n := range map[string]int{`<html lang="en">`: 1, "<h1>": 1, "<main ": 1, "<title>": 1, `class="skip"`: 1, "<header ": 1, "<footer ": 1} {
		// Drawings have titles too.
		if got := strings.Count(page, text); got != n && (text != "<title>" || got < 1) {
			t.Errorf("%s has %d of %s, want %d", path, got, text, n)
		}
	}
	tables := strings.Count(page, "<table")
	if captions := strings.Count(page, "<caption>"); captions != tables {
		t.Errorf("%s has %d tables and %d captions", path, tables, captions)
	}
	if strings.Contains(page, "style=") || strings.Contains(page, "onclick") {
		t.Errorf("%s has something inline that its policy forbids", path)
	}
}
