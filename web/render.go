package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"unicode"

	"github.com/segue-project/segue"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages by name, each with the layout around it: read at the first
// page, since every command of segue would wait for it.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.gohtml", "templates/parts.gohtml"))
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // they are embedded
	}
	all := map[string]*template.Template{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".gohtml")
		if name == "layout" || name == "parts" {
			continue
		}
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+f.Name()))
	}
	return all
}

// frame is what the layout shows around a page.
type frame struct {
	Page   string // the name of its template
	Title  string
	Viewer *Viewer // nil for who is not logged in
	CSRF   string
	// Section is the entry of the navigation that the page belongs to: its address.
	Section string
	// Live is whether a part of the page, the template "live", changes by itself.
	Live bool
	Data any
	// Store is Config.Store, for pages of operators.
	Store string
}

// liveHeader asks for the part of a page that changes by itself.
const liveHeader = "Segue-Live"

// sections are the navigation.
var sections = []struct{ Path, Name string }{
	{"/", "Overview"},
	{"/chains", "Chains"},
	{"/forecasts", "Forecasts"},
	{"/models", "Models"},
	{"/history", "History"},
	{"/trainings", "Trainings"},
}

// Sections returns the navigation, for the layout.
func (frame) Sections() any { return sections }

// Assets returns the addresses of a file, for the layout.
func (frame) Asset(name string) string { return assetPath(name) }

// StoreFlag returns the flag by which a command works on the server's store, with a
// space before it, as one types it in a shell; "" where DATABASE_URL says where it is.
func (f frame) StoreFlag() string {
	if f.Store == "" {
		return ""
	}
	if !strings.ContainsFunc(f.Store, strange) {
		return " --store " + f.Store
	}
	return " --store '" + strings.ReplaceAll(f.Store, "'", `'\''`) + "'"
}

// strange reports whether a shell may take a rune for something else.
func strange(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
}

// Word is the viewer's role in a word.
func (v Viewer) Word() string {
	switch {
	case v.Operator:
		return "operator"
	case v.MayChange:
		return "user"
	}
	return "reader"
}

// visit is one request for a page, of somebody who is known.
type visit struct {
	w      *Web
	rw     http.ResponseWriter
	r      *http.Request
	viewer Viewer
	csrf   string
}

// whose returns the user whose chains the viewer sees: "" for everybody's.
func (v visit) whose() string {
	if v.viewer.Operator {
		return ""
	}
	return v.viewer.User
}

// show answers with a page.
func (v visit) show(f frame) error {
	f.Viewer, f.CSRF = &v.viewer, v.csrf
	if v.viewer.Operator {
		f.Store = v.w.cfg.Store
	}
	v.w.render(v.rw, v.r, http.StatusOK, f)
	return nil
}

// page is a page for those who are logged in. The others are sent to the login; a
// form is accepted only from a page of the same session.
func (w *Web) page(show func(visit) error) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		secret, ok := w.session(r)
		var viewer Viewer
		var err error
		if ok {
			viewer, err = w.services.Visitors.Viewer(r.Context(), secret)
		}
		switch {
		case !ok, segue.KindOf(err) == segue.NotFound:
			w.sendToLogin(rw, r)
			return
		case err != nil:
			w.fail(rw, r, nil, err)
			return
		}
		v := visit{w: w, rw: rw, r: r, viewer: viewer, csrf: csrfOf(secret)}
		if r.Method == http.MethodPost && !equal(r.PostFormValue("csrf"), v.csrf) {
			w.fail(rw, r, &v, forbiddenError("this form is not from a page of your session: go back, reload the page, and try again"))
			return
		}
		if err := show(v); err != nil {
			w.fail(rw, r, &v, err)
		}
	})
}

// operators lets only operators see a page.
func operators(show func(visit) error) func(visit) error {
	return func(v visit) error {
		if !v.viewer.Operator {
			return forbiddenError("this page is for operators: your token lacks the scope operator")
		}
		return show(v)
	}
}

func (w *Web) sendToLogin(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get(liveHeader) != "" {
		http.Error(rw, "the session has ended", http.StatusUnauthorized)
		return
	}
	next := "/"
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	target := "/login"
	if next != "/" {
		target += "?next=" + template.URLQueryEscaper(next)
	}
	http.Redirect(rw, r, target, http.StatusSeeOther)
}

// render writes a page, or what changes by itself of it, when all of it is made.
func (w *Web) render(rw http.ResponseWriter, r *http.Request, status int, f frame) {
	part := "layout"
	if f.Live && r.Header.Get(liveHeader) != "" {
		part = "live"
	}
	var b bytes.Buffer
	if err := templates()[f.Page].ExecuteTemplate(&b, part, f); err != nil {
		w.cfg.Log.Error("page cannot be made", "page", f.Page, "error", err)
		http.Error(rw, "this page cannot be made; see the server's log", http.StatusInternalServerError)
		return
	}
	h := rw.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if part == "live" {
		sum := sha256.Sum256(b.Bytes())
		tag := `"` + hex.EncodeToString(sum[:12]) + `"`
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	}
	rw.WriteHeader(status)
	_, _ = rw.Write(b.Bytes()) // whoever asked has gone
}

// refusal is an error of somebody who may not do something.
type refusal struct{ why string }

// Error returns why.
func (r refusal) Error() string { return r.why }

func forbiddenError(why string) error { return refusal{why} }

// errorData is what the page of an error shows.
type errorData struct {
	Status int
	Detail string
	Away   bool // what the page stands on does not answer
}

// fail answers with the page of an error. What has no kind is not for a viewer's
// eyes. v is nil for somebody who is not known.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, v *visit, err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		err = segue.Errorf(segue.Unavailable, "%w", err)
	}
	data := errorData{Status: http.StatusInternalServerError, Detail: err.Error()}
	f := frame{Page: "error", Title: "The server failed"}
	if refused, ok := errors.AsType[refusal](err); ok {
		data.Status, data.Detail, f.Title = http.StatusForbidden, refused.why, "You may not do this"
	} else {
		switch segue.KindOf(err) {
		case segue.NotFound:
			data.Status, f.Title = http.StatusNotFound, "There is no such page"
		case segue.Invalid:
			data.Status, f.Title = http.StatusBadRequest, "The request makes no sense"
		case segue.Conflict:
			data.Status, f.Title = http.StatusConflict, "It has changed meanwhile"
		case segue.Unavailable:
			data.Status, data.Away, f.Title = http.StatusServiceUnavailable, true, "The store does not answer"
			rw.Header().Set("Retry-After", "5")
		case segue.Corrupt:
			f.Title = "Stored data is damaged"
		default:
			data.Detail = "See the server's log."
		}
	}
	if data.Status >= http.StatusInternalServerError {
		w.cfg.Log.Warn("page failed", "path", r.URL.Path, "error", err)
	}
	if data.Away {
		data.Detail = "The server tried, and got no answer in time. Its log says more."
	}
	if v != nil {
		f.Viewer, f.CSRF = &v.viewer, v.csrf
	}
	data.Detail = sentence(data.Detail)
	f.Data = data
	w.render(rw, r, data.Status, f)
}

// part is something that a page shows if it can be had: the rest of the page does
// without.
type part[T any] struct {
	Value   T
	Problem string
}

// load asks for a part of a page.
func load[T any](v visit, what string, ask func() (T, error)) part[T] {
	value, err := ask()
	if err == nil {
		return part[T]{Value: value}
	}
	v.w.cfg.Log.Warn("part of a page is missing", "path", v.r.URL.Path, "part", what, "error", err)
	if segue.KindOf(err) == segue.Other {
		return part[T]{Problem: fmt.Sprintf("The %s cannot be shown; the server's log says why.", what)}
	}
	return part[T]{Problem: fmt.Sprintf("The %s cannot be shown now (%s).", what, segue.KindOf(err))}
}
