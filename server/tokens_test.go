package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

func TestTheFirstTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	s, path := openStore(t), filepath.Join(t.TempDir(), "token")
	first := First{Path: path, Host: "here", User: "olga"}
	made, _, err := FirstToken(t.Context(), s, first, t0)
	if err != nil || !made {
		t.Fatalf("made %t, %v", made, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %s, %v; want 600", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if made, _, err = FirstToken(t.Context(), s, first, t0); err != nil || made {
		t.Errorf("again: made %t, %v; want the same", made, err)
	}
	other := openStore(t) // whose tokens are lost
	if made, _, err = FirstToken(t.Context(), other, first, t0); err != nil || made {
		t.Errorf("on another store: made %t, %v; want the same", made, err)
	}
	for _, s := range []tokens{{s}, {other}} {
		got, err := s.Token(t.Context(), api.HashOf(strings.TrimSpace(string(text))))
		got.ID = ""
		want := api.Token{User: "olga", Scopes: []api.Scope{api.ScopeOperator}, Expires: t0.Add(firstFor)}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("token (-want +got): %v\n%s", err, diff)
		}
	}
	all, err := s.Tokens(t.Context())
	if err != nil || len(all) != 1 || strings.Contains(all[0].Hash, strings.TrimSpace(string(text))) {
		t.Errorf("the store has %+v, %v; want one, and not its secret", all, err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := FirstToken(t.Context(), s, first, t0); segue.KindOf(err) != segue.Invalid {
		t.Errorf("of a file that holds no token: %v, want an error of kind invalid", err)
	}
}

// Whoever empties the folder of a server gets another first token, and the one before
// ends; so does one that has expired. That of another machine stays.
func TestAFirstTokenThatIsReplacedEnds(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	here := First{Path: filepath.Join(t.TempDir(), "token"), Host: "here", User: "olga"}
	there := First{Path: here.Path, Host: "there", User: "olga"}
	begin := func(f First, at segue.Time) (made bool, revoked int) {
		t.Helper()
		made, ended, err := FirstToken(t.Context(), s, f, at)
		if err != nil {
			t.Fatal(err)
		}
		return made, len(ended)
	}
	empty := func() {
		t.Helper()
		if err := os.Remove(here.Path); err != nil {
			t.Fatal(err)
		}
	}
	begin(there, t0) // with a folder of its own
	empty()
	if made, revoked := begin(here, t0); !made || revoked != 0 {
		t.Errorf("at first: made %t, %d revoked; want made and none", made, revoked)
	}
	empty()
	if made, revoked := begin(here, t0.Add(time.Hour)); !made || revoked != 1 {
		t.Errorf("once the folder is emptied: made %t, %d revoked; want made and one", made, revoked)
	}
	if made, revoked := begin(here, t0.Add(time.Hour+firstFor-time.Second)); made || revoked != 0 {
		t.Errorf("before it expires: made %t, %d revoked; want the same", made, revoked)
	}
	if made, revoked := begin(here, t0.Add(time.Hour+firstFor)); !made || revoked != 0 {
		t.Errorf("when it has expired: made %t, %d revoked; want made", made, revoked)
	}
	all, err := s.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	revoked := 0
	for _, tok := range all {
		if tok.Revoked.Known() {
			revoked++
		}
	}
	if len(all) != 4 || revoked != 1 {
		t.Errorf("%d tokens, of which %d are revoked; want 4 and 1", len(all), revoked)
	}
}

func TestTokensAreNotedInTheAuditLog(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	id, _, err := CreateToken(t.Context(), s, Grant{User: "ada", Scopes: []api.Scope{api.ScopeRead}, For: time.Hour}, "olga", t0)
	if err != nil {
		t.Fatal(err)
	}
	if err := RevokeToken(t.Context(), s, id, "olga", t0.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := RevokeToken(t.Context(), s, "nobody", "olga", t0.Add(time.Hour)); segue.KindOf(err) != segue.NotFound {
		t.Errorf("error %v, want one of kind not found", err)
	}
	lines, err := (auditor{s}).Lines(t.Context(), segue.NoTime, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, strings.Join([]string{l.User, l.Via, l.Action, l.Object}, " | "))
	}
	want := []string{"olga | command line | revoke-token | nobody", "olga | command line | revoke-token | " + id, "olga | command line | create-token | " + id}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
	if _, _, err := CreateToken(t.Context(), s, Grant{User: "ada"}, "olga", t0); segue.KindOf(err) != segue.Invalid {
		t.Errorf("a token that allows nothing: %v, want an error of kind invalid", err)
	}
}
