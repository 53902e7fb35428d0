package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// c00, c13, ... are ada's chains: the first active, the next paused; c01, c02 are
// others'.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		secret, path string
		want         int
		did          string
	}{
		"a user pauses an own chain":              {adaWrites, "/chains/c00/pause", 303, "ada: c00 from active to paused: Paused by its user."},
		"a user resumes an own chain":             {adaWrites, "/chains/c13/resume", 303, "ada: c13 from paused to active: "},
		"a user stops an own chain":               {adaWrites, "/chains/c13/stop", 303, "ada: c13 from paused to stopped: Stopped by its user."},
		"an operator pauses another's":            {operates, "/chains/c01/pause", 303, "olga: c01 from active to paused: Paused by olga, an operator."},
		"a user pauses another's":                 {adaWrites, "/chains/c01/pause", 404, ""},
		"a user stops none":                       {adaWrites, "/chains/nothing/stop", 404, ""},
		"a reader pauses an own chain":            {adaReads, "/chains/c00/pause", 403, ""},
		"a user resumes what is active":           {adaWrites, "/chains/c00/resume", 409, ""},
		"a user stops what is done":               {adaWrites, "/chains/c26/stop", 409, ""},
		"a user does what there is not":           {adaWrites, "/chains/c00/burn", 404, ""},
		"a user promotes a model":                 {adaWrites, "/models/promote?id=m3", 403, ""},
		"a user rolls back":                       {adaWrites, "/models/rollback", 403, ""},
		"an operator promotes a model":            {operates, "/models/promote", 303, "olga promotes m3: costs less (olga, on the dashboard)"},
		"an operator rolls back":                  {operates, "/models/rollback", 303, "olga rolls back from m2: costs less (olga, on the dashboard)"},
		"a user reads the log of a training":      {adaWrites, "/trainings/20260301-020000", 403, ""},
		"an operator reads one that there is not": {operates, "/trainings/no", 404, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := fullHouse("trainer")
			b := login(t, h.serve(t), tt.secret)
			ask := b.get(tt.path)
			answer := ask
			if !strings.HasPrefix(tt.path, "/trainings") {
				answer = b.post(tt.path, url.Values{"csrf": {b.csrf}, "id": {"m3"}, "champion": {"m2"}, "reason": {"costs less"}})
			}
			if answer.Code != tt.want {
				t.Errorf("%d, want %d\n%s", answer.Code, tt.want, answer.Body)
			}
			if asked := ask.Code; tt.want == http.StatusSeeOther && asked != http.StatusOK && !strings.HasPrefix(tt.path, "/models/promote") || tt.want != http.StatusSeeOther && asked != tt.want {
				t.Errorf("the page that asks first: %d", asked)
			}
			var want []string
			if tt.did != "" {
				want = []string{tt.did}
			}
			if diff := cmp.Diff(want, h.did); diff != "" {
				t.Errorf("what was done (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelsAreChangedForAReason(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	b := login(t, h.serve(t), operates)
	for _, reason := range []string{"", "  ", "two\nlines", strings.Repeat("x", 501)} {
		for _, path := range []string{"/models/promote", "/models/rollback"} {
			if answer := b.post(path, url.Values{"csrf": {b.csrf}, "id": {"m3"}, "reason": {reason}}); answer.Code != http.StatusBadRequest {
				t.Errorf("%s for %.20q: %d, want 400", path, reason, answer.Code)
			}
		}
	}
	for id, want := range map[string]int{"m2": 409, "bad": 409, "none": 404} {
		if answer := b.get("/models/promote?id=" + id); answer.Code != want {
			t.Errorf("promote %s: %d, want %d", id, answer.Code, want)
		}
	}
	if len(h.did) > 0 {
		t.Errorf("all the same it was done: %v", h.did)
	}
}

// A user sees own chains, page by page.
func TestListOfChains(t *testing.T) {
	t.Parallel()
	h := emptyHouse()
	for i := range 5000 {
		user := "ada"
		if i%5 == 4 {
			user = "bob"
		}
		h.chains = append(h.chains, segue.Chain{ID: fmt.Sprintf("x%04d", i), Name: user + "'s", User: user, Created: t0.Add(-time.Duration(i) * time.Minute)})
	}
	b := login(t, h.serve(t), adaReads)
	listed, pages := map[string]bool{}, 0
	for path := "/chains?state=active"; path != ""; pages++ {
		page := b.get(path).Body.String()
		if len(page) >= 100_000 {
			t.Fatalf("a page has %d bytes", len(page))
		}
		if strings.Contains(page, "bob&#39;s") {
			t.Fatal("others' chains are listed")
		}
		for _, part := range strings.Split(page, `<a href="/chains/`)[1:] {
			listed[part[:5]] = true
		}
		_, next, more := strings.Cut(page, `Latest chains</a> <a href="`)
		if pages == 0 {
			_, next, more = strings.Cut(page, `<nav aria-label="More chains" class="more"> <a href="`)
		}
		path = ""
		if more {
			path, _, _ = strings.Cut(next, `"`)
			path = strings.ReplaceAll(path, "&amp;", "&")
		}
	}
	if len(listed) != 4000 || pages != 80 {
		t.Errorf("%d chains on %d pages, want 4000 on 80", len(listed), pages)
	}
	if page := b.get("/chains?user=bob").Body.String(); strings.Contains(page, "bob&#39;s") {
		t.Error("who asks for another's chains sees them")
	}
	for _, path := range []string{"/chains?state=odd", "/chains?id=x&before=yesterday"} {
		if answer := b.get(path); answer.Code != http.StatusBadRequest {
			t.Errorf("%s: %d, want 400", path, answer.Code)
		}
	}
}

// A script asks for what changes, and gets it only when it has changed.
func TestLivePartOfAPage(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	b := login(t, h.serve(t), adaWrites)
	first := b.get("/chains/c00", liveHeader, "1")
	tag := first.Header().Get("ETag")
	if first.Code != http.StatusOK || tag == "" || strings.Contains(first.Body.String(), "<html") || !strings.Contains(first.Body.String(), "Decisions") {
		t.Fatalf("%d, tag %q\n%s", first.Code, tag, first.Body)
	}
	if same := b.get("/chains/c00", liveHeader, "1", "If-None-Match", tag); same.Code != http.StatusNotModified || same.Body.Len() > 0 {
		t.Errorf("what has not changed: %d, %d bytes", same.Code, same.Body.Len())
	}
	h.chains[0].State = segue.ChainPaused
	if changed := b.get("/chains/c00", liveHeader, "1", "If-None-Match", tag); changed.Code != http.StatusOK || !strings.Contains(changed.Body.String(), "paused") {
		t.Errorf("what has changed: %d\n%s", changed.Code, changed.Body)
	}
}
