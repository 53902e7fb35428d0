package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
)

func aToken(id string, at segue.Time) Token {
	return Token{
		ID: id, Hash: strings.Repeat(id[:1], 64), User: "ada", Scopes: []string{"read", "chains"}, Note: "laptop",
		Created: at, Expires: at.Add(24 * time.Hour), Revoked: segue.NoTime,
	}
}

func TestTokensAreFoundByTheirHash(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			first, second := aToken("a1", t0), aToken("b2", t0.Add(time.Hour))
			second.Expires = segue.NoTime
			for _, token := range []Token{first, second} {
				if err := s.CreateToken(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.TokenByHash(t.Context(), first.Hash)
			if diff := cmp.Diff(first, got); diff != "" || err != nil {
				t.Errorf("token (-want +got): %v\n%s", err, diff)
			}
			if err := s.RevokeToken(t.Context(), "b2", t0.Add(2*time.Hour)); err != nil {
				t.Fatal(err)
			}
			if err := s.RevokeToken(t.Context(), "b2", t0.Add(3*time.Hour)); err != nil {
				t.Fatal(err)
			}
			second.Revoked = t0.Add(2 * time.Hour)
			all, err := s.Tokens(t.Context())
			if diff := cmp.Diff([]Token{second, first}, all); diff != "" || err != nil {
				t.Errorf("all tokens (-want +got): %v\n%s", err, diff)
			}
			_, err = s.TokenByHash(t.Context(), strings.Repeat("0", 64))
			wantKind(t, err, segue.NotFound)
			wantKind(t, s.RevokeToken(t.Context(), "c3", t0), segue.NotFound)
			wantKind(t, s.CreateToken(t.Context(), first), segue.Conflict)
			wantKind(t, s.CreateToken(t.Context(), Token{ID: "d4", User: "ada"}), segue.Invalid)
		})
	}
}

func TestTheAuditLogIsReadPageByPage(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			var want []Audit
			for _, id := range []string{"c", "b", "a"} { // at one instant: the ID decides
				line := Audit{ID: id, At: t0, User: "ada", Via: "token a1", Action: "pause chain", Object: "k3v9q2"}
				if err := s.BeginAudit(t.Context(), line); err != nil {
					t.Fatal(err)
				}
				want = append(want, line)
			}
			want[1].Status, want[1].Detail = 409, "it is paused already"
			if err := s.EndAudit(t.Context(), "b", 409, "it is paused already"); err != nil {
				t.Fatal(err)
			}
			page, err := s.AuditLog(t.Context(), AuditQuery{Limit: 2})
			if diff := cmp.Diff(want[:2], page); diff != "" || err != nil {
				t.Fatalf("first page (-want +got): %v\n%s", err, diff)
			}
			page, err = s.AuditLog(t.Context(), AuditQuery{Before: page[1].At, BeforeID: page[1].ID, Limit: 2})
			if diff := cmp.Diff(want[2:], page); diff != "" || err != nil {
				t.Errorf("second page (-want +got): %v\n%s", err, diff)
			}
			wantKind(t, s.EndAudit(t.Context(), "z", 200, ""), segue.NotFound)
		})
	}
}

func TestAnAnswerIsWorkedOutOnce(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			at := t0
			claim := func() (Answer, bool) {
				t.Helper()
				known, mine, err := s.ClaimAnswer(t.Context(), Answer{Owner: "ada", Key: "k", Fingerprint: "f", At: at}, at.Add(-24*time.Hour), at.Add(-time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				return known, mine
			}
			if _, mine := claim(); !mine {
				t.Fatal("the first claim is somebody else's")
			}
			want := Answer{Owner: "ada", Key: "k", Fingerprint: "f", At: t0}
			if known, mine := claim(); mine || !cmp.Equal(want, known, cmpopts.EquateEmpty()) {
				t.Errorf("the second claim: mine %t, %s", mine, cmp.Diff(want, known, cmpopts.EquateEmpty()))
			}
			want.Status, want.Kind, want.Body = 200, "application/json", []byte("{}\n")
			if err := s.KeepAnswer(t.Context(), want); err != nil {
				t.Fatal(err)
			}
			at = t0.Add(2 * time.Hour) // long after a claim is given up
			if known, mine := claim(); mine || !cmp.Equal(want, known, cmpopts.EquateEmpty()) {
				t.Errorf("once it is answered: mine %t, %s", mine, cmp.Diff(want, known, cmpopts.EquateEmpty()))
			}
			at = t0.Add(25 * time.Hour)
			if _, mine := claim(); !mine {
				t.Error("a day later it is still kept")
			}
			at = at.Add(2 * time.Hour)
			if _, mine := claim(); !mine {
				t.Error("a claim that nobody answered is never given up")
			}
			if err := s.DropAnswer(t.Context(), "ada", "k"); err != nil {
				t.Fatal(err)
			}
			if _, mine := claim(); !mine {
				t.Error("a claim that was dropped is still there")
			}
			if err := s.ForgetAnswers(t.Context(), at.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, mine := claim(); !mine {
				t.Error("an answer that was forgotten is still there")
			}
		})
	}
}

func TestChainsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			for i, id := range []string{"a", "b", "c", "d"} {
				c := aChain(id)
				c.Created = t0.Add(time.Duration(i/2) * time.Hour)
				if err := s.CreateChain(t.Context(), c, aLink(id, 1)); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			q := ChainQuery{User: "ada", Limit: 3}
			for {
				page, err := s.Chains(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				for _, c := range page {
					got = append(got, c.ID)
				}
				last := page[len(page)-1]
				q.Before, q.BeforeID = last.Created, last.ID
			}
			if diff := cmp.Diff([]string{"c", "d", "a", "b"}, got); diff != "" {
				t.Errorf("chains (-want +got):\n%s", diff)
			}
		})
	}
}
