package api

import (
	"encoding/json"
	"net/http"
)

// Check is one thing that a server needs, or does.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// State is a word or two that anyone may read: what is wrong stands in the log.
	State string `json:"state"`
	// Needed is whether the server cannot answer without it.
	Needed bool `json:"needed"`
}

// healthz says that the process lives.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"alive"})
}

// readyz says whether the server does its work: 503 where something that it needs
// does not.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Ready  bool    `json:"ready"`
		Checks []Check `json:"checks"`
	}
	body.Ready, body.Checks = true, a.services.Health.Checks(r.Context())
	for _, c := range body.Checks {
		body.Ready = body.Ready && (c.OK || !c.Needed)
	}
	status := http.StatusOK
	if !body.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, body)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked has gone
}
