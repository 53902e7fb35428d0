package api

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// describe returns the head of the description. Answers are JSON and nothing is
// added to them; a parameter or a member that is not known is refused.
func describe() huma.Config {
	cfg := huma.DefaultConfig("Segue", "1")
	cfg.Info.Description = "When to submit the next job of a chain, and why. Errors are problem details (RFC 9457); " +
		"instants are RFC 3339 in UTC, spans are in seconds unless their name says otherwise."
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", "", nil
	cfg.RejectUnknownQueryParameters = true
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "A token of `segue token create`. On the Unix socket the peer's user is known without one."},
	}
	cfg.Tags = []*huma.Tag{
		{Name: "advice", Description: "When to submit, and how long it would wait."},
		{Name: "chains", Description: "Work that goes on over several jobs. A user sees and touches own chains, an operator all."},
		{Name: "histories", Description: "What is known of the past of clusters."},
		{Name: "models", Description: "Trained models."},
		{Name: "events", Description: "Changes as they happen."},
		{Name: "audit", Description: "Who changed what."},
	}
	return cfg
}

// ofBodies are the statuses of bodies that cannot be read, in time or at all.
var ofBodies = []int{http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge}

// refusals are the statuses by which an operation with such an input may be refused,
// beside those of all: what it names may not be there, and its body not be readable.
func refusals[I any](op huma.Operation) []int {
	var all []int
	input := reflect.TypeFor[I]()
	if _, ok := input.FieldByName("Body"); ok {
		all = append(append(all, ofBodies...), http.StatusUnsupportedMediaType)
	}
	_, cluster := input.FieldByName("Cluster")
	if cluster || op.OperationID == "advise" || strings.Contains(op.Path, "{") {
		all = append(all, http.StatusNotFound)
	}
	return all
}

// Description returns the interface as OpenAPI 3.1 describes it, in JSON.
func (a *API) Description() ([]byte, error) { return a.huma.OpenAPI().MarshalJSON() }

func (a *API) openAPI(w http.ResponseWriter, _ *http.Request) {
	text, err := a.Description()
	if err != nil {
		a.told("openapi", err).write(w)
		return
	}
	w.Header().Set("Content-Type", "application/openapi+json")
	_, _ = w.Write(text)
}
