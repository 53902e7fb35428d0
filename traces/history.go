package traces

import (
	"errors"
	"io"

	"github.com/segue-project/segue"
)

// History is a whole history in memory, about 200 bytes a job.
type History struct {
	Jobs     []segue.Job
	Header   Header
	Findings Report
}

// Load reads the whole history at path. A history of which not one record can
// be used is Invalid. If the file is damaged further on, Load returns what was
// read before the damage together with the error.
func Load(path string, opt Options) (*History, error) {
	r, err := Open(path, opt)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return ReadAll(r)
}

// ReadAll reads the rest of r as Load does.
func ReadAll(r *Reader) (*History, error) {
	h := &History{}
	var ended error
	for {
		j, err := r.Read()
		if err != nil {
			ended = err
			break
		}
		h.Jobs = append(h.Jobs, j)
	}
	h.Header, h.Findings = r.Header(), *r.Report()
	if !errors.Is(ended, io.EOF) {
		return h, ended
	}
	return h, r.Usable()
}

// Usable returns an Invalid error if records were rejected and not one was
// read: the file has the look of a history and is none.
func (r *Reader) Usable() error {
	if rejected := r.report.Rejected(); rejected > 0 && r.report.Records == 0 {
		return segue.Errorf(segue.Invalid, "%s (%s): not one of its records can be used: %s", r.name, r.format, r.report.String())
	}
	return nil
}
