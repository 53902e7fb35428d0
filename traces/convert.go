package traces

import (
	"errors"
	"io"

	"github.com/segue-project/segue"
)

// ConvertOptions say how to convert a history.
type ConvertOptions struct {
	Read  Options
	Write WriteOptions
	// Progress is called now and then with what Reader.Progress returns. An
	// error that it returns ends the conversion. Default: it is not called.
	Progress func(done, total int64) error
}

// Conversion is what a conversion did.
type Conversion struct {
	From, To Format
	Written  int64
	Refused  int64  // jobs that the output's format cannot hold at all
	Losses   []Loss // what it could not express
	Findings Report
}

// Convert reads the history at in and writes it to out, one job at a time. SWF
// begins with the time of the first submission and the number of records, so
// for SWF the input is read twice. Nothing is left at out unless the whole
// input was read and at least one job was written.
func Convert(in, out string, opt ConvertOptions) (*Conversion, error) {
	if opt.Write.Format == Auto {
		opt.Write.Format = FormatOfPath(out)
	}
	var head Header
	if opt.Write.Format == SWF {
		var err error
		if head, err = survey(in, opt); err != nil {
			return nil, err
		}
	}
	r, err := Open(in, opt.Read)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if opt.Write.Format != SWF {
		head = r.Header()
	}
	opt.Write.Header = head
	w, err := Create(out, opt.Write)
	if err != nil {
		return nil, err
	}
	c, err := Copy(w, r, opt.Progress)
	if err != nil {
		w.Abort()
		return nil, err
	}
	return c, nil
}

// Copy writes the rest of r to w and closes w. It refuses a history without a
// usable job; after an error the caller calls w.Abort. Progress is as in
// ConvertOptions.
func Copy(w *Writer, r *Reader, progress func(done, total int64) error) (*Conversion, error) {
	c := &Conversion{From: r.Format(), To: w.format}
	err := eachJob(r, progress, func(j segue.Job) error {
		err := w.Write(j)
		if segue.KindOf(err) == segue.Invalid {
			c.Refused++
			return nil
		}
		c.Written++
		return err
	})
	if err == nil {
		err = r.Usable()
	}
	if err == nil && c.Written == 0 {
		err = segue.Errorf(segue.Invalid, "%s holds no jobs: there is nothing to write", r.name)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	c.Losses, c.Findings = w.Losses(), *r.Report()
	return c, nil
}

// survey reads the input for what stands at the head of an SWF file.
func survey(in string, opt ConvertOptions) (Header, error) {
	r, err := Open(in, opt.Read)
	if err != nil {
		return Header{}, err
	}
	defer r.Close()
	first, jobs := segue.Never, int64(0)
	err = eachJob(r, opt.Progress, func(j segue.Job) error {
		first = min(first, j.Submit)
		jobs++
		return nil
	})
	head := r.Header()
	head.MaxRecords = jobs
	if !head.UnixStart.Known() && head.Format != SWF && jobs > 0 {
		head.UnixStart = first
	}
	return head, err
}

// progressEvery is the number of jobs between two calls of progress.
const progressEvery = 4096

// eachJob calls do for every job of r.
func eachJob(r *Reader, progress func(done, total int64) error, do func(segue.Job) error) error {
	for n := 0; ; n++ {
		j, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(j)
		}
		if err == nil && progress != nil && n%progressEvery == 0 {
			err = progress(r.Progress())
		}
		if err != nil {
			return err
		}
	}
}
