package models_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/models"
)

// registry returns a new registry with the given models, each an hour younger
// than the one before, and its folder. Its clock moves on by a second each
// time.
func registry(t *testing.T, ids ...string) (*models.Registry, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "models")
	clock := noon
	r := models.NewRegistry(dir, func() segue.Time {
		clock = clock.Add(time.Second)
		return clock
	})
	for i, id := range ids {
		m, files := example(id)
		m.Created = models.Instant(noon.Add(time.Duration(i) * time.Hour))
		if err := r.Write(m, files); err != nil {
			t.Fatal(err)
		}
	}
	return r, dir
}

func ok(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantKind wants an error of a kind that says all of the words.
func wantKind(t rapid.TB, err error, kind segue.Kind, words ...string) {
	t.Helper()
	if err == nil || segue.KindOf(err) != kind {
		t.Fatalf("got %v (%s), want %s", err, segue.KindOf(err), kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("got %q, want it to say %q", err, word)
		}
	}
}

func wantChampion(t rapid.TB, r *models.Registry, want string) {
	t.Helper()
	if got, err := r.Champion(); err != nil || got != want {
		t.Fatalf("the champion is %q (%v), want %s", got, err, want)
	}
}

func TestLifeOfAModel(t *testing.T) {
	t.Parallel()
	r, _ := registry(t, "a", "b", "c")
	_, err := r.Champion()
	wantKind(t, err, segue.NotFound, "no model was promoted")

	ok(t, r.Promote("a", "the first"))
	ok(t, r.Keep("b", "costs 0.1 h more a start"))
	ok(t, r.Promote("c", "costs 0.2 h less a start"))
	wantChampion(t, r, "c")
	if id, err := r.Former("c"); err != nil || id != "a" {
		t.Errorf("before it the champion was %q (%v), want a", id, err)
	}
	back, err := r.RollbackFrom("c", "the queue changed")
	if err != nil || back != "a" {
		t.Fatalf("rolled back to %q (%v), want a", back, err)
	}
	wantChampion(t, r, "a")

	entries, err := r.List()
	ok(t, err)
	at := func(seconds int) models.Instant {
		return models.Instant(noon.Add(time.Duration(seconds) * time.Second))
	}
	want := []models.Entry{
		{ID: "c", Last: &models.Event{At: at(3), Action: models.Promoted, Model: "c", Before: "a", Reason: "costs 0.2 h less a start"}},
		{ID: "b", Last: &models.Event{At: at(2), Action: models.Kept, Model: "b", Before: "a", Reason: "costs 0.1 h more a start"}},
		{ID: "a", Champion: true, Last: &models.Event{At: at(4), Action: models.RolledBack, Model: "a", Before: "c", Reason: "the queue changed"}},
	}
	if diff := cmp.Diff(want, entries, cmpopts.IgnoreFields(models.Entry{}, "Manifest")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for _, e := range entries {
		if e.Manifest.ID != e.ID {
			t.Errorf("%s is listed with the manifest of %q", e.ID, e.Manifest.ID)
		}
	}
}

func TestRefusedDecisionsChangeNothing(t *testing.T) {
	t.Parallel()
	r, dir := registry(t, "a", "b", "broken")
	ok(t, r.Promote("a", "the first"))
	ok(t, os.WriteFile(filepath.Join(dir, "broken", "empty"), []byte("x"), 0o600))
	before, err := r.Log()
	ok(t, err)

	wantKind(t, r.Promote("a", "again"), segue.Conflict, "model a", "champion already")
	wantKind(t, r.Keep("a", "not better than itself"), segue.Conflict, "champion already")
	wantKind(t, r.Promote("none", "why not"), segue.NotFound, "model none", "there is none in")
	wantKind(t, r.Promote("../a", "why not"), segue.Invalid, `model ID "../a"`)
	wantKind(t, r.Promote("broken", "why not"), segue.Corrupt, "empty has 1 bytes, want 0")
	wantKind(t, r.Keep("broken", "why not"), segue.Corrupt, "empty has 1 bytes, want 0")
	wantKind(t, r.Promote("b", " "), segue.Invalid, "reason")
	wantKind(t, r.Promote("b", "two\nlines"), segue.Invalid, "reason")
	wantKind(t, r.Promote("b", "\xff"), segue.Invalid, "reason")
	_, err = r.RollbackFrom("", "none before")
	wantKind(t, err, segue.NotFound, "no champion before model a")
	_, err = r.RollbackFrom("b", "another is it by now")
	wantKind(t, err, segue.Conflict, "roll back: the champion is a by now, not b")

	wantChampion(t, r, "a")
	after, err := r.Log()
	ok(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the log changed:\n%s", diff)
	}
}

func TestEmptyRegistry(t *testing.T) {
	t.Parallel()
	r, dir := registry(t)
	entries, err := r.List()
	if err != nil || len(entries) > 0 {
		t.Errorf("lists %v (%v), want nothing", entries, err)
	}
	_, err = r.Champion()
	wantKind(t, err, segue.NotFound, "no model was promoted")
	_, err = r.RollbackFrom("", "none")
	wantKind(t, err, segue.NotFound, "no models in")
	wantKind(t, r.Promote("a", "none"), segue.NotFound, "no models in")
	_, err = r.Open("a")
	wantKind(t, err, segue.NotFound, "model a")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of an empty registry was made: %v", err)
	}
}

func TestBrokenModelsAreListedWithTheirError(t *testing.T) {
	t.Parallel()
	r, dir := registry(t, "a", "b", "flipped", "short")
	in := func(path ...string) string { return filepath.Join(append([]string{dir}, path...)...) }
	ok(t, os.Mkdir(in("void"), 0o700))
	ok(t, os.Mkdir(in("Capital"), 0o700))
	ok(t, os.Mkdir(in(".hidden"), 0o700))
	ok(t, os.WriteFile(in("notes.txt"), []byte("mine"), 0o600))
	ok(t, os.Symlink("a", in("link")))
	ok(t, os.CopyFS(in("copy"), os.DirFS(in("a"))))
	ok(t, os.WriteFile(in("flipped", "moe-dqn.safetensors"), []byte("veights"), 0o600))
	ok(t, os.Truncate(in("short", "manifest.json"), 20))

	damage := map[string]string{
		"Capital": `model ID "Capital"`,
		"copy":    "it is a copy: the manifest says that this is model a",
		"link":    "it is no folder",
		"short":   "manifest.json is damaged",
		"void":    "manifest.json is missing",
	}
	entries, err := r.List()
	ok(t, err)
	wantEntries(t, entries, []string{"flipped", "b", "a", "Capital", "copy", "link", "short", "void"}, damage)

	damage["flipped"] = "moe-dqn.safetensors is damaged"
	entries, err = r.Verify()
	ok(t, err)
	wantEntries(t, entries, []string{"b", "a", "Capital", "copy", "flipped", "link", "short", "void"}, damage)
}

func wantEntries(t *testing.T, got []models.Entry, ids []string, damage map[string]string) {
	t.Helper()
	var listed []string
	for _, e := range got {
		listed = append(listed, e.ID)
		want, broken := damage[e.ID]
		if broken != (e.Err != nil) || broken && !strings.Contains(e.Err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", e.ID, e.Err, want)
		}
	}
	if !slices.Equal(listed, ids) {
		t.Errorf("listed are %q, want %q", listed, ids)
	}
}

func TestLogSurvivesATruncatedLastLine(t *testing.T) {
	t.Parallel()
	r, dir := registry(t, "a", "b", "c")
	ok(t, r.Promote("a", "the first"))
	ok(t, r.Promote("b", "better"))
	log := filepath.Join(dir, "promotions.jsonl")
	whole, err := os.ReadFile(log)
	ok(t, err)
	first := strings.IndexByte(string(whole), '\n') + 1
	for size := first; size < len(whole); size++ {
		ok(t, os.WriteFile(log, whole[:size], 0o600))
		events, err := r.Log()
		if err != nil || len(events) != 1 {
			t.Fatalf("of %d bytes %d events were read (%v), want 1", size, len(events), err)
		}
	}
	// The next line begins where the half one did.
	ok(t, r.Keep("c", "no better"))
	events, err := r.Log()
	ok(t, err)
	if len(events) != 2 || events[0].Model != "a" || events[1].Model != "c" {
		t.Errorf("the log holds %v, want a and c", events)
	}
	// What the lost line said is not known: there is nothing to return to.
	_, err = r.RollbackFrom("", "regret")
	wantKind(t, err, segue.NotFound, "no champion before model b")
}

func TestVerdictIsSettledAgainstTheChampionThatWasJudged(t *testing.T) {
	t.Parallel()
	r, _ := registry(t, "a", "b", "c")
	better := evaluation.Verdict{Promote: true, Reason: "it costs 0.20 h less a start than the champion"}
	worse := evaluation.Verdict{Reason: "it costs 0.10 h more a start than the champion"}
	wantKind(t, r.Settle("b", "a", better), segue.NotFound, "no model was promoted")
	ok(t, r.Settle("a", "", worse))
	ok(t, r.Settle("a", "", evaluation.Verdict{Promote: true, Reason: "the first"}))
	wantKind(t, r.Settle("b", "", better), segue.Conflict, "there was no champion when it was judged, and by now it is a")
	ok(t, r.Settle("b", "a", worse))
	wantChampion(t, r, "a")
	ok(t, r.Settle("c", "a", better))
	wantChampion(t, r, "c")
	wantKind(t, r.Settle("b", "a", better), segue.Conflict, "settle model b", "compared with model a, and by now the champion is c")

	events, err := r.Log()
	ok(t, err)
	want := []models.Event{
		{Action: models.Kept, Model: "a", Reason: worse.Reason},
		{Action: models.Promoted, Model: "a", Reason: "the first"},
		{Action: models.Kept, Model: "b", Before: "a", Reason: worse.Reason},
		{Action: models.Promoted, Model: "c", Before: "a", Reason: better.Reason},
	}
	if diff := cmp.Diff(want, events, cmpopts.IgnoreFields(models.Event{}, "At")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestPromotionWhoseWriterDiedHasNoEffect puts back the champion's file, as a
// process that dies between the log and the champion leaves it.
func TestPromotionWhoseWriterDiedHasNoEffect(t *testing.T) {
	t.Parallel()
	r, dir := registry(t, "a", "b", "c")
	ok(t, r.Promote("a", "the first"))
	ok(t, r.Promote("b", "died here"))
	ok(t, os.WriteFile(filepath.Join(dir, "champion"), []byte("a\n"), 0o600))
	ok(t, os.WriteFile(filepath.Join(dir, ".segue-champion"), []byte("b"), 0o600))
	wantChampion(t, r, "a")
	_, err := r.RollbackFrom("", "what for")
	wantKind(t, err, segue.NotFound, "no champion before model a")

	ok(t, r.Promote("c", "better"))
	back, err := r.RollbackFrom("", "regret")
	if err != nil || back != "a" {
		t.Errorf("rolled back to %q (%v), want a", back, err)
	}
}

func TestDecisionsAtOnceTakeTurns(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "c", "d"}
	_, dir := registry(t, ids...)
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			// A registry each, as processes have.
			r := models.NewRegistry(dir, func() segue.Time { return noon })
			if err := r.Promote(id, "in a hurry"); err != nil {
				t.Errorf("promote %s: %v", id, err)
			}
		})
	}
	wg.Wait()
	r := models.NewRegistry(dir, func() segue.Time { return noon })
	events, err := r.Log()
	ok(t, err)
	champion := ""
	for _, e := range events {
		if e.Before != champion {
			t.Errorf("%s was promoted over %q, want over %q", e.Model, e.Before, champion)
		}
		champion = e.Model
	}
	if len(events) != len(ids) {
		t.Errorf("the log holds %d events, want %d", len(events), len(ids))
	}
	wantChampion(t, r, champion)
}

func TestDamagedFilesOfTheRegistryAreRefused(t *testing.T) {
	t.Parallel()
	r, dir := registry(t, "a", "b")
	ok(t, r.Promote("a", "the first"))
	champion, log := filepath.Join(dir, "champion"), filepath.Join(dir, "promotions.jsonl")
	for _, text := range []string{"", "a", "A\n", "../a\n", "a\nb\n", "\xff\n"} {
		ok(t, os.WriteFile(champion, []byte(text), 0o600))
		_, err := r.Champion()
		wantKind(t, err, segue.Corrupt, "champion is damaged")
		wantKind(t, r.Promote("b", "better"), segue.Corrupt, "champion is damaged")
	}
	ok(t, os.WriteFile(champion, []byte("a\n"), 0o600))
	whole, err := os.ReadFile(log)
	ok(t, err)
	for _, line := range []string{"\n", "{}\n", "null\n", "[]\n", `{"at":"2023-03-01T12:00:00Z","action":"crown","model":"a","reason":"x"}` + "\n", `{"who":1}` + "\n"} {
		ok(t, os.WriteFile(log, append(slices.Clone(whole), line...), 0o600))
		_, err := r.Log()
		wantKind(t, err, segue.Corrupt, "promotions.jsonl:2")
		wantKind(t, r.Promote("b", "better"), segue.Corrupt, "promotions.jsonl:2")
		wantChampion(t, r, "a")
	}
}

func TestDifferencesAreNamed(t *testing.T) {
	t.Parallel()
	a, _ := example("a")
	b, _ := example("b")
	if diff := models.Diff(a, b); len(diff) > 0 {
		t.Errorf("models that differ by name alone differ in %v", diff)
	}
	b.Window.Until = models.Instant(noon)
	b.Features.Names = []string{"pending_jobs", "queue_age", "hour"}
	b.Policies[0].Settings[0].Parameter = 0.5
	b.Policies = append(b.Policies, models.Policy{Name: "pg", Kind: "mlp"})
	b.Metrics = map[string]float64{"pinball_hours": 0.66}
	b.Files = []models.File{{Name: "report.html", Size: 3, SHA256: strings.Repeat("ab", 32)}}
	want := []models.Difference{
		{"training", "until", "2023-03-01T00:00:00Z", "2023-03-01T12:00:00Z"},
		{"features", "names", `"free_nodes"`, `"queue_age"`},
		{
			"policies", "moe-dqn, 8 nodes x 48h0m0s, prefer 4",
			"parameter 0.25, cost 2.5 h (2 to 3), gap closed 0.8 (0.7 to 0.9)",
			"parameter 0.5, cost 2.5 h (2 to 3), gap closed 0.8 (0.7 to 0.9)",
		},
		{"policies", "pg", "", "mlp"},
		{"metrics", "coverage_0.9", "0.905", ""},
		{"metrics", "pinball_hours", "0.71", "0.66"},
		{"files", "report.html", "", "3 bytes, abababababab"},
	}
	if diff := cmp.Diff(want, models.Diff(a, b)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
