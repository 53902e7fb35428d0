package server

import (
	"strings"

	"github.com/segue-project/segue/api"
)

// named are the addresses that have a name in them: what is below them is told apart
// by it.
var named = []string{"/v1/chains/", "/v1/histories/", "/v1/models/", "/chains/", "/trainings/", "/assets/"}

// routeOf returns the path of a request with {id} in the place of a name, so that
// spans of one sort have one name.
func routeOf(path string) string {
	if path == api.RollbackPath { // which is no model's
		return path
	}
	for _, prefix := range named {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || rest == "" {
			continue
		}
		_, below, more := strings.Cut(rest, "/")
		if more {
			return prefix + "{id}/" + below
		}
		return prefix + "{id}"
	}
	return path
}
