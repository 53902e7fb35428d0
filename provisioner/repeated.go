package provisioner

import (
	"time"

	"github.com/segue-project/segue"
)

// Repeated is what went wrong last, of what is tried again and again: whoever reads the
// log is told once, and once an hour as long as it lasts. Its zero value is nothing.
type Repeated struct {
	text string
	told segue.Time
}

// News reports whether to tell of an error: of another one than the last, or of one that
// was told an hour ago.
func (r *Repeated) News(err error, now segue.Time) bool {
	text := err.Error()
	if text == r.text && now.Sub(r.told).Abs() < time.Hour {
		return false
	}
	r.text, r.told = text, now
	return true
}

// Over reports whether anything went wrong before, and forgets it.
func (r *Repeated) Over() bool {
	was := r.text != ""
	*r = Repeated{}
	return was
}
