package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// keySize is that of a key of AES-256.
const keySize = 32

// cookieName is the cookie that holds a session.
const cookieName = "segue_session"

// sealer makes sessions: the token's secret and when the session ends, encrypted
// and authenticated. The server keeps nothing of a session, and who steals the
// cookie has no token, which would last longer and open the interface too.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, segue.Errorf(segue.Invalid, "web: the key of sessions: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	return sealer{aead}, err
}

func (s sealer) seal(secret string, ends segue.Time) string {
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	plain := strconv.FormatInt(int64(ends), 10) + " " + secret
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, []byte(plain), []byte(cookieName)))
}

// open returns the secret of a session that has not ended.
func (s sealer) open(cookie string, now segue.Time) (secret string, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(sealed) < s.aead.NonceSize() {
		return "", false
	}
	size := s.aead.NonceSize()
	plain, err := s.aead.Open(nil, sealed[:size], sealed[size:], []byte(cookieName))
	if err != nil {
		return "", false
	}
	until, secret, _ := strings.Cut(string(plain), " ")
	ends, err := strconv.ParseInt(until, 10, 64)
	return secret, err == nil && now < segue.Time(ends)
}

// csrfOf returns what a form of a session carries, which no other site can know.
func csrfOf(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("segue form"))
	return hex.EncodeToString(mac.Sum(nil))
}

// session returns the secret that the request's cookie stands for.
func (w *Web) session(r *http.Request) (secret string, ok bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return "", false
	}
	return w.seal.open(c.Value, w.cfg.Now())
}

func (w *Web) setCookie(rw http.ResponseWriter, r *http.Request, value string, lasts time.Duration) {
	c := &http.Cookie{
		Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(lasts.Seconds()),
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(rw, c)
}

// loginData is what the page of the login shows.
type loginData struct {
	Next    string
	Problem string
}

func (w *Web) loginPage(rw http.ResponseWriter, r *http.Request) {
	w.showLogin(rw, r, http.StatusOK, loginData{Next: localPath(r.URL.Query().Get("next"))})
}

func (w *Web) showLogin(rw http.ResponseWriter, r *http.Request, status int, data loginData) {
	w.render(rw, r, status, frame{Page: "login", Title: "Log in", Data: data})
}

// login begins a session of whoever has the secret of a token.
func (w *Web) login(rw http.ResponseWriter, r *http.Request) {
	next := localPath(r.FormValue("next"))
	secret := strings.TrimSpace(r.FormValue("token"))
	viewer, err := w.services.Visitors.Viewer(r.Context(), secret)
	switch {
	case secret == "" || segue.KindOf(err) == segue.NotFound:
		w.showLogin(rw, r, http.StatusUnauthorized, loginData{
			Next: next, Problem: "Nobody knows this token, or it is no longer valid. Paste all of it: it begins with segue_.",
		})
	case err != nil:
		w.fail(rw, r, nil, err)
	default:
		w.cfg.Log.Info("dashboard session begins", "user", viewer.User, "via", viewer.Via)
		w.setCookie(rw, r, w.seal.seal(secret, w.cfg.Now().Add(w.cfg.Session)), w.cfg.Session)
		http.Redirect(rw, r, next, http.StatusSeeOther)
	}
}

func (w *Web) logout(rw http.ResponseWriter, r *http.Request) {
	w.setCookie(rw, r, "", 0)
	http.Redirect(rw, r, "/login", http.StatusSeeOther)
}

// localPath returns a path of this server, "/" for what leads elsewhere.
func localPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}
