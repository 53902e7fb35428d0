package web

import (
	"net/http"
	"slices"

	"github.com/segue-project/segue"
)

// verb is something that a viewer does to a chain.
type verb struct {
	Name, Button, Question string
	from                   []segue.ChainState
	to                     segue.ChainState
	past                   string
}

var verbs = []verb{
	{
		Name: "pause", Button: "Pause", past: "Paused",
		Question: "Its jobs go on, and one that waits may start. No further link is submitted until the chain is resumed.",
		from:     []segue.ChainState{segue.ChainActive}, to: segue.ChainPaused,
	},
	{
		Name: "resume", Button: "Resume", past: "Resumed",
		Question: "Links are submitted again when it is time.",
		from:     []segue.ChainState{segue.ChainPaused}, to: segue.ChainActive,
	},
	{
		Name: "stop", Button: "Stop", past: "Stopped",
		Question: "What runs goes on to its end, and no link follows. A chain that was stopped stays so.",
		from:     []segue.ChainState{segue.ChainActive, segue.ChainPaused}, to: segue.ChainStopped,
	},
}

// verbsFor returns what a viewer may do to a chain now.
func verbsFor(v Viewer, c segue.Chain) []verb {
	if !v.Operator && (!v.MayChange || v.User != c.User) {
		return nil
	}
	var may []verb
	for _, verb := range verbs {
		if slices.Contains(verb.from, c.State) {
			may = append(may, verb)
		}
	}
	return may
}

// why says why a chain is in its new state.
func (b verb) why(v Viewer, c segue.Chain) string {
	switch {
	case b.to == segue.ChainActive:
		return ""
	case v.User == c.User:
		return b.past + " by its user."
	}
	return b.past + " by " + v.User + ", an operator."
}

// changing returns the chain and the verb that the address names.
func (w *Web) changing(v visit) (segue.Chain, verb, error) {
	c, err := w.ownChain(v, v.r.PathValue("id"))
	if err != nil {
		return c, verb{}, err
	}
	i := slices.IndexFunc(verbs, func(b verb) bool { return b.Name == v.r.PathValue("verb") })
	if i < 0 {
		return c, verb{}, segue.Errorf(segue.NotFound, "there is no page %s", v.r.URL.Path)
	}
	switch {
	case !v.viewer.MayChange && !v.viewer.Operator:
		return c, verb{}, forbiddenError("your token lacks the scope chains, with which you could " + verbs[i].Name + " chains")
	case !slices.Contains(verbs[i].from, c.State):
		return c, verb{}, segue.Errorf(segue.Conflict, "chain %s is %s already. %s", c.ID, c.State, c.Why)
	}
	return c, verbs[i], nil
}

// confirmData is what a page shows that asks before something is done.
type confirmData struct {
	What, Question string
	Action         string // the address that does it
	Back           string
	Button         string
	Reason         bool // whether it asks for one
	Hidden         map[string]string
}

func (w *Web) confirmChange(v visit) error {
	c, b, err := w.changing(v)
	if err != nil {
		return err
	}
	return v.show(frame{Page: "confirm", Title: b.Button + " chain " + c.ID + "?", Section: "/chains", Data: confirmData{
		What: b.Button + " chain " + c.ID + " (" + short(c.Name) + ") of " + short(c.User) + "?", Question: b.Question,
		Action: "/chains/" + c.ID + "/" + b.Name, Back: "/chains/" + c.ID, Button: b.Button,
	}})
}

func (w *Web) change(v visit) error {
	c, b, err := w.changing(v)
	if err != nil {
		return err
	}
	if err := w.services.Chains.SetState(v.r.Context(), v.viewer, c.ID, c.State, b.to, b.why(v.viewer, c)); err != nil {
		return err
	}
	http.Redirect(v.rw, v.r, "/chains/"+c.ID, http.StatusSeeOther)
	return nil
}
