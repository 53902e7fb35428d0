package api

import (
	"bytes"
	"encoding/json"
)

// indented returns the description as it is checked in, for people to compare.
func indented(a *API) ([]byte, error) {
	text, err := a.Description()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
