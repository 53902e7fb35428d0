package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

func TestWhoIsNotKnownIsSentToTheLogin(t *testing.T) {
	t.Parallel()
	w := fullHouse("trainer").serve(t)
	stranger := &browser{tb: t, w: w}
	for _, path := range slices.Concat(allPages[:len(allPages)-1], []string{"/no/such/page"}) {
		answer := stranger.get(path)
		if answer.Code != http.StatusSeeOther || !strings.HasPrefix(answer.Header().Get("Location"), "/login") {
			t.Errorf("%s: %d to %q, want the login", path, answer.Code, answer.Header().Get("Location"))
		}
	}
	if answer := stranger.get("/", liveHeader, "1"); answer.Code != http.StatusUnauthorized {
		t.Errorf("a script without a session: %d, want 401", answer.Code)
	}
	for _, secret := range []string{"", "segue_nobody", operates[:len(operates)-1]} {
		answer := stranger.post("/login", url.Values{"token": {secret}})
		if answer.Code != http.StatusUnauthorized || len(answer.Result().Cookies()) > 0 {
			t.Errorf("login with %q: %d, cookies %v", secret, answer.Code, answer.Result().Cookies())
		}
	}
}

func TestSessionsAreSealed(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	w := h.serve(t)
	b := login(t, w, operates)
	switch c := b.cookie; {
	case strings.Contains(c.Value, operates):
		t.Error("the cookie holds the token")
	case !c.HttpOnly, c.SameSite != http.SameSiteStrictMode, c.Path != "/", c.MaxAge != 12*60*60:
		t.Errorf("the cookie is %v", c)
	case c.Secure:
		t.Error("the cookie is for TLS only, on a connection without")
	}
	tests := map[string]func() string{
		"another server's": func() string { return login(t, fullHouse("trainer").serve(t), operates).cookie.Value },
		"nothing":          func() string { return "" },
		"no base64":        func() string { return "%%%" },
		"too short":        func() string { return "AAAA" },
		"a byte is changed": func() string {
			return strings.Map(func(r rune) rune { return map[rune]rune{'A': 'B'}[r] + r }, b.cookie.Value[:9]) + b.cookie.Value[9:] + "AA"
		},
		"of a token that is no longer valid": func() string {
			return w.seal.seal("segue_revoked", h.now.Add(time.Hour))
		},
		"one that has ended": func() string { return w.seal.seal(operates, h.now) },
	}
	for name, value := range tests {
		other := &browser{tb: t, w: w, cookie: &http.Cookie{Name: cookieName, Value: value()}}
		if answer := other.get("/"); answer.Code != http.StatusSeeOther {
			t.Errorf("%s: %d, want the login", name, answer.Code)
		}
	}
	if answer := b.get("/"); answer.Code != http.StatusOK {
		t.Errorf("the session itself: %d", answer.Code)
	}
	out := b.post("/logout", url.Values{})
	if c := out.Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("the logout leaves cookies %v", c)
	}
}

// Over TLS, of this server or of a proxy before it, the cookie is for TLS only.
func TestCookieBehindTLS(t *testing.T) {
	t.Parallel()
	w := emptyHouse().serve(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", strings.NewReader("token="+operates))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-Proto", "https")
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	if c := rec.Result().Cookies(); len(c) != 1 || !c[0].Secure {
		t.Errorf("cookies are %v", c)
	}
}

func TestLoginLeadsToPagesOfThisServerOnly(t *testing.T) {
	t.Parallel()
	w := emptyHouse().serve(t)
	for next, want := range map[string]string{
		"/chains?state=paused": "/chains?state=paused", "": "/", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/",
		"/x\r\nSet-Cookie: a=b": "/",
	} {
		b := &browser{tb: t, w: w}
		answer := b.post("/login", url.Values{"token": {operates}, "next": {next}})
		if got := answer.Header().Get("Location"); got != want {
			t.Errorf("next %q leads to %q, want %q", next, got, want)
		}
	}
}

func TestFormsOfOtherPagesAreRefused(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	w := h.serve(t)
	b := login(t, w, adaWrites)
	paths := []string{"/chains/c00/pause", "/models/promote", "/models/rollback", "/no/such/page"}
	for name, csrf := range map[string]string{"without a token": "", "with a wrong one": "00", "with another session's": csrfOf(operates)} {
		for _, path := range paths {
			if answer := b.post(path, url.Values{"csrf": {csrf}}); answer.Code != http.StatusForbidden {
				t.Errorf("%s %s: %d, want 403", path, name, answer.Code)
			}
		}
	}
	for _, path := range append(paths, "/login", "/logout") {
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("csrf="+b.csrf+"&token="+operates))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set(header, value)
			if answer := b.do(r); answer.Code != http.StatusForbidden || len(answer.Result().Cookies()) > 0 {
				t.Errorf("%s of another site by %s: %d, cookies %v", path, header, answer.Code, answer.Result().Cookies())
			}
		}
	}
	if len(h.did) > 0 {
		t.Errorf("all the same it was done: %v", h.did)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	b := login(t, fullHouse("trainer").serve(t), operates)
	stranger := &browser{tb: t, w: b.w}
	for _, answer := range []*httptest.ResponseRecorder{
		b.get("/"), b.get("/no/such/page"), b.get("/", liveHeader, "1"), stranger.get("/"), stranger.get("/login"), b.post("/models/rollback", url.Values{}),
	} {
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := answer.Header().Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	for name := range assets {
		answer := stranger.get(assetPath(name))
		if answer.Code != http.StatusOK || !strings.Contains(answer.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %s", name, answer.Code, answer.Header().Get("Cache-Control"))
		}
	}
	if answer := stranger.get("/assets/style-00000000.css"); answer.Code != http.StatusNotFound {
		t.Errorf("a file that there is not: %d", answer.Code)
	}
}

func TestStoreThatIsAway(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	b := login(t, h.serve(t), operates)
	h.broken = segue.Errorf(segue.Unavailable, "dial db.internal:5432: refused")
	overview := b.get("/")
	if overview.Code != http.StatusOK || !strings.Contains(overview.Body.String(), "cannot be shown now (unavailable)") {
		t.Errorf("the overview: %d\n%s", overview.Code, overview.Body)
	}
	chains := b.get("/chains")
	for _, want := range []string{"The store does not answer", "What still works", "No link is submitted twice"} {
		if chains.Code != http.StatusServiceUnavailable || !strings.Contains(chains.Body.String(), want) {
			t.Errorf("the chains: %d, want 503 and %q\n%s", chains.Code, want, chains.Body)
		}
	}
	h.away = h.broken
	away := b.get("/")
	if away.Code != http.StatusServiceUnavailable || !strings.Contains(away.Body.String(), "What still works") {
		t.Errorf("when not even the visitor is known: %d", away.Code)
	}
	h.away, h.broken = nil, segue.Errorf(segue.Other, "secret of the server")
	failed := b.get("/chains")
	if failed.Code != http.StatusInternalServerError || strings.Contains(failed.Body.String(), "secret of the server") {
		t.Errorf("a failure of the server's own: %d\n%s", failed.Code, failed.Body)
	}
	for _, answer := range []*httptest.ResponseRecorder{overview, chains, away} {
		if strings.Contains(answer.Body.String(), "db.internal") {
			t.Error("a page tells where the database is")
		}
	}
}

func TestTooManyPagesAtOnce(t *testing.T) {
	t.Parallel()
	h := emptyHouse()
	w, err := New(Services{h, h, h, h, h, h}, Config{Now: func() segue.Time { return h.now }, Concurrent: 1})
	if err != nil {
		t.Fatal(err)
	}
	inside, leave := make(chan struct{}), make(chan struct{})
	slow := w.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(inside); <-leave }))
	ask := func() *http.Request {
		return httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	}
	done := make(chan struct{})
	go func() { slow.ServeHTTP(httptest.NewRecorder(), ask()); close(done) }()
	<-inside
	rec := httptest.NewRecorder()
	slow.ServeHTTP(rec, ask())
	if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
		t.Errorf("%d, want 503", rec.Code)
	}
	close(leave)
	<-done
}

// Who announces a form and sends none takes no place from the others, and is told
// when its time is over.
func TestAFormThatDoesNotComeHoldsNoPlace(t *testing.T) {
	t.Parallel()
	h := emptyHouse()
	w, err := New(Services{h, h, h, h, h, h}, Config{Now: func() segue.Time { return h.now }, Concurrent: 1, Time: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // before the server, which waits for it
	const head = "POST /login HTTP/1.1\r\nHost: segue\r\nExpect: 100-continue\r\n" +
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"
	if _, err := conn.Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v; want to be asked for the form", line, err)
	}
	if answer := (&browser{tb: t, w: w}).get("/login"); answer.Code != http.StatusOK {
		t.Errorf("meanwhile another page answers %d, want 200", answer.Code)
	}
	ended := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(lines) // what is missing shows
		ended <- string(rest)
	}()
	select {
	case rest := <-ended:
		if !strings.Contains(rest, "408 Request Timeout") {
			t.Errorf("the end is %q, want 408", rest)
		}
	case <-time.After(time.Minute):
		t.Error("nobody ends the wait for the form")
	}
}

func TestAFormThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	b := &browser{tb: t, w: emptyHouse().serve(t)}
	if answer := b.post("/login", url.Values{"token": {strings.Repeat("x", maxForm)}}); answer.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d, want 413", answer.Code)
	}
}

func TestConfigThatMakesNoSense(t *testing.T) {
	t.Parallel()
	now := func() segue.Time { return t0 }
	for name, cfg := range map[string]Config{
		"no clock": {}, "a short key": {Now: now, Key: []byte("short")}, "short sessions": {Now: now, Session: time.Second},
		"no page": {Now: now, Concurrent: -1}, "no time": {Now: now, Time: -1},
	} {
		if _, err := New(Services{}, cfg); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: %v, want an error of kind invalid", name, err)
		}
	}
}
