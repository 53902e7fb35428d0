package web

import (
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"

	"github.com/segue-project/segue/reports"
)

var (
	//go:embed assets/style.css
	pageStyle string
	//go:embed assets/live.js
	liveScript string
	//go:embed assets/icon.svg
	icon string
)

// assets are the files beside the pages, by name. A browser may keep one for ever:
// its address changes with its content.
var assets = map[string]struct{ kind, text string }{
	"style.css": {"text/css; charset=utf-8", reports.Style() + pageStyle},
	"live.js":   {"text/javascript; charset=utf-8", liveScript},
	"icon.svg":  {"image/svg+xml", icon},
}

// assetPath returns the address of a file: "/assets/style-4f7c2a91.css".
func assetPath(name string) string {
	sum := sha256.Sum256([]byte(assets[name].text))
	end := path.Ext(name)
	return "/assets/" + strings.TrimSuffix(name, end) + "-" + hex.EncodeToString(sum[:4]) + end
}

func asset(rw http.ResponseWriter, r *http.Request) {
	for name, file := range assets {
		if assetPath(name) == r.URL.Path {
			rw.Header().Set("Content-Type", file.kind)
			rw.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = rw.Write([]byte(file.text)) // whoever asked has gone
			return
		}
	}
	http.NotFound(rw, r)
}

// equal compares secrets in a time that tells nothing of them.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
