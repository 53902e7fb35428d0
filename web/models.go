package web

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
)

// modelsData is what the page of the models shows.
type modelsData struct {
	Models   []Model
	Champion string
	Damage   string   // why the champion cannot be used; empty where it can
	Lineage  []string // from the champion back, as far as its parents are known
	A, B     string   // that are compared
	Rows     []comparison
	Operator bool
	// Former is whether there was a champion before.
	Former bool
	// InUse is the model that this server asks, where that is not the champion.
	InUse string
	// Unused is whether there is a champion, and this server asks no model.
	Unused bool
}

// comparison is a number of two models.
type comparison struct {
	Name, A, B, Change string
}

// Last returns the last part of the lineage, for the template.
func (d modelsData) Last() int { return len(d.Lineage) - 1 }

func (w *Web) models(v visit) error {
	all, err := w.services.Models.Models(v.r.Context())
	if err != nil {
		return err
	}
	data := modelsData{Models: all, Operator: v.viewer.Operator}
	for _, m := range all {
		if m.Champion {
			data.Champion, data.Damage = m.ID, m.Error
		}
		data.Former = data.Former || m.State == "former champion"
		if m.InUse && !m.Champion {
			data.InUse = m.ID
		}
	}
	data.Unused = data.Champion != "" && !slices.ContainsFunc(all, func(m Model) bool { return m.InUse })
	data.Lineage = lineage(all, data.Champion)
	data.compare(v.r.URL.Query().Get("a"), v.r.URL.Query().Get("b"))
	return v.show(frame{Page: "models", Title: "Models", Section: "/models", Data: data})
}

// lineage returns the champion and its parents.
func lineage(all []Model, id string) []string {
	var line []string
	for id != "" && !slices.Contains(line, id) {
		line = append(line, id)
		i := slices.IndexFunc(all, func(m Model) bool { return m.ID == id })
		if i < 0 {
			break
		}
		id = all[i].Parent
	}
	return line
}

// compare fills in the numbers of two models: those asked for, or the champion and
// the latest other one.
func (d *modelsData) compare(a, b string) {
	if a == "" {
		a = d.Champion
	}
	for _, m := range d.Models {
		if b == "" && m.ID != a && m.Error == "" {
			b = m.ID
		}
	}
	find := func(id string) (Model, bool) {
		i := slices.IndexFunc(d.Models, func(m Model) bool { return m.ID == id && m.Error == "" })
		if i < 0 {
			return Model{}, false
		}
		return d.Models[i], true
	}
	left, okA := find(a)
	right, okB := find(b)
	if !okA || !okB {
		return
	}
	d.A, d.B = a, b
	names := slices.Sorted(maps.Keys(left.Metrics))
	for name := range right.Metrics {
		if _, both := left.Metrics[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, hasX := left.Metrics[name]
		y, hasY := right.Metrics[name]
		row := comparison{Name: name, A: number(x, hasX), B: number(y, hasY), Change: unknown}
		if hasX && hasY {
			row.Change = strconv.FormatFloat(y-x, 'g', 3, 64)
		}
		d.Rows = append(d.Rows, row)
	}
}

func number(x float64, has bool) string {
	if !has {
		return unknown
	}
	return strconv.FormatFloat(x, 'g', 5, 64)
}

// model returns the model that a request names.
func (w *Web) model(v visit, id string) (Model, []Model, error) {
	all, err := w.services.Models.Models(v.r.Context())
	if err != nil {
		return Model{}, nil, err
	}
	i := slices.IndexFunc(all, func(m Model) bool { return m.ID == id })
	if i < 0 {
		return Model{}, nil, segue.Errorf(segue.NotFound, "there is no model %q", id)
	}
	return all[i], all, nil
}

func (w *Web) confirmPromote(v visit) error {
	m, all, err := w.model(v, v.r.URL.Query().Get("id"))
	if err != nil {
		return err
	}
	switch {
	case m.Error != "":
		return segue.Errorf(segue.Conflict, "model %s cannot be used: %s", m.ID, m.Error)
	case m.Champion:
		return segue.Errorf(segue.Conflict, "model %s is the champion already", m.ID)
	}
	question := "It becomes the champion: the model that decides. There is none now."
	if champion := championOf(all); champion != "" {
		question = "It takes the place of " + champion + ". A rollback undoes the step."
	}
	return v.show(frame{Page: "confirm", Title: "Promote model " + m.ID + "?", Section: "/models", Data: confirmData{
		What: "Promote model " + m.ID + "?", Question: question, Action: "/models/promote", Back: "/models", Button: "Promote", Reason: true,
		Hidden: map[string]string{"id": m.ID},
	}})
}

func championOf(all []Model) string {
	for _, m := range all {
		if m.Champion {
			return m.ID
		}
	}
	return ""
}

// reasonOf returns why somebody does something, in one line.
func reasonOf(v visit) (string, error) {
	reason := strings.TrimSpace(v.r.PostFormValue("reason"))
	if reason == "" || len(reason) > 500 || strings.ContainsFunc(reason, func(c rune) bool { return c < ' ' }) {
		return "", segue.Errorf(segue.Invalid, "the reason is missing or too long: say why, in one line of at most 500 bytes")
	}
	return reason + " (" + v.viewer.User + ", on the dashboard)", nil
}

func (w *Web) promote(v visit) error {
	reason, err := reasonOf(v)
	if err != nil {
		return err
	}
	m, _, err := w.model(v, v.r.PostFormValue("id"))
	if err != nil {
		return err
	}
	if err := w.services.Models.Promote(v.r.Context(), v.viewer, m.ID, reason); err != nil {
		return err
	}
	http.Redirect(v.rw, v.r, "/models", http.StatusSeeOther)
	return nil
}

func (w *Web) confirmRollback(v visit) error {
	all, err := w.services.Models.Models(v.r.Context())
	if err != nil {
		return err
	}
	champion := championOf(all)
	if champion == "" {
		return segue.Errorf(segue.Conflict, "there is no champion to roll back from")
	}
	return v.show(frame{Page: "confirm", Title: "Roll back?", Section: "/models", Data: confirmData{
		What: "Roll back from model " + champion + "?", Question: "The champion before it becomes the champion again.",
		Action: "/models/rollback", Back: "/models", Button: "Roll back", Reason: true, Hidden: map[string]string{"champion": champion},
	}})
}

func (w *Web) rollback(v visit) error {
	reason, err := reasonOf(v)
	if err != nil {
		return err
	}
	if _, err := w.services.Models.Rollback(v.r.Context(), v.viewer, v.r.PostFormValue("champion"), reason); err != nil {
		return err
	}
	http.Redirect(v.rw, v.r, "/models", http.StatusSeeOther)
	return nil
}
