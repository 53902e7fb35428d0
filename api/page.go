package api

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
)

// Page are the parameters of a list: lists are long, and come page by page.
type Page struct {
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"How many at most."`
	Cursor string `query:"cursor" maxLength:"500" doc:"Where the page begins: next of the page before."`
}

// cursor returns where the page before ended.
func (p Page) cursor() (before segue.Time, id string, err error) {
	if p.Cursor == "" {
		return segue.NoTime, "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	at, id, ok := strings.Cut(string(raw), " ")
	us, parseErr := strconv.ParseInt(at, 10, 64)
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	if err != nil || !ok || parseErr != nil || id == "" || strings.ContainsFunc(id, unprintable) {
		return 0, "", noCursor(p.Cursor)
	}
	return segue.Time(us), id, nil
}

func noCursor(text string) error {
	return segue.Errorf(segue.Invalid, "cursor %q: want next of a page before", text)
}

// cursorOf returns the cursor of the page after a line.
func cursorOf(at segue.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(int64(at), 10) + " " + id))
}
