package traces

import (
	"errors"
	"io"
	"iter"
	"math/bits"
	"time"
	_ "time/tzdata" // a static binary on a bare machine has no zone files

	"github.com/segue-project/segue"
)

// Options say how to read a history. The zero Options recognise the format and
// suit histories of one cluster.
type Options struct {
	// Format is taken for granted instead of being recognised. Default: Auto.
	Format Format
	// Zone is where the clock stood that wrote times without a zone. Default:
	// America/Chicago for the Lonestar6 log, UTC otherwise. SWF and Parquet
	// have no such times.
	Zone *time.Location
	// Name is what messages call the input. Default: the path, or "input".
	Name string
}

// Reader reads a history one job at a time. Jobs come in the order of the
// file, but for those that had not ended when it was written (pending and
// running): a later line may say how they ended, so they come last.
type Reader struct {
	source source
	format Format
	name   string
	header Header
	report Report
	seen   *seen
	held   held

	rec       record // the record in progress; its array tasks come one by one
	ready     bool   // whether rec holds a job
	expanding bool   // whether more tasks of rec are to come
	ended     error  // why the source has no more records
	first     bool   // whether the job in next is still to be delivered
	next      segue.Job

	closer  io.Closer
	counter *countingReader
	size    int64
}

// source is what a format has to offer: records, one at a time.
type source interface {
	// read fills rec, which is new, with the next record. It returns usable
	// if there is one, noRecord or why there is none; io.EOF at the end; any
	// other error ends the reading after the records before it.
	read(rec *record) (Reason, error)
	// place returns the number of the record in the file, and text what stands
	// there.
	place() int64
	text() []byte
	// progress returns how much of how much has been read, or 0, 0.
	progress() (done, total int64)
	close() error
}

// Open opens the history at path, which may be gzip. It reads as far as the
// first job, so that it can refuse what is no history: [segue.Invalid] with
// what was expected and what was seen, [segue.NotFound] if there is no file.
func Open(path string, opt Options) (*Reader, error) {
	f, size, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	if opt.Name == "" {
		opt.Name = path
	}
	r, err := newReader(f, size, opt)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// NewReader reads the history in r as Open does. Parquet has its table of
// contents at the end, so for Parquet r must be an io.ReaderAt and an
// io.Seeker too, as files and byte readers are.
func NewReader(r io.Reader, opt Options) (*Reader, error) { return newReader(r, 0, opt) }

func newReader(in io.Reader, size int64, opt Options) (*Reader, error) {
	if opt.Name == "" {
		opt.Name = "input"
	}
	r := &Reader{name: opt.Name, seen: newSeen(), size: size, counter: &countingReader{r: in}}
	if err := r.open(in, opt); err != nil {
		return nil, err
	}
	j, err := r.read()
	if err != nil && !errors.Is(err, io.EOF) {
		r.Close()
		return nil, err
	}
	r.next, r.first = j, err == nil
	return r, nil
}

// open recognises the format and makes the source for it.
func (r *Reader) open(in io.Reader, opt Options) error {
	file, isParquet, err := asParquet(in, opt)
	if err != nil {
		return err
	}
	if isParquet {
		r.format = Parquet
		r.source, err = newParquetSource(file, &r.header, opt)
		return err
	}
	lines, err := decompress(opt.Name, r.counter)
	if err != nil {
		return err
	}
	head, err := lines.peek(sniffed)
	if err != nil {
		return streamError(opt.Name, 0, err)
	}
	if r.format, err = sniff(opt.Name, head, opt.Format); err != nil {
		return err
	}
	r.source, err = newTextSource(r.format, lines, &r.header, &r.report, opt)
	return err
}

// Format returns the format of the history.
func (r *Reader) Format() Format { return r.format }

// Header returns what the head of the file has said so far.
func (r *Reader) Header() Header {
	h := r.header
	h.Format = r.format
	return h
}

// Report returns the findings so far.
func (r *Reader) Report() *Report { return &r.report }

// Progress returns how many bytes of the file have been read (rows, for
// Parquet) and how many it has; a total of 0 is not known.
func (r *Reader) Progress() (done, total int64) {
	if done, total = r.source.progress(); total > 0 {
		return done, total
	}
	return r.counter.n, r.size
}

// Close closes the file.
func (r *Reader) Close() error {
	err := r.source.close()
	if r.closer != nil {
		err = errors.Join(err, r.closer.Close())
		r.closer = nil
	}
	return err
}

// All returns the jobs that are left, and an error as the last pair if the
// reading ends with one.
func (r *Reader) All() iter.Seq2[segue.Job, error] {
	return func(yield func(segue.Job, error) bool) {
		for {
			j, err := r.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(j, err) || err != nil {
				return
			}
		}
	}
}

// Read returns the next job, and io.EOF after the last one. A record that
// cannot be used is no error: it is counted in the Report. An error means that
// nothing more can be read: [segue.Corrupt] if the file is damaged there,
// [segue.Unavailable] if the disk failed. The jobs before it were good.
func (r *Reader) Read() (segue.Job, error) {
	if r.first {
		r.first = false
		return r.next, nil
	}
	return r.read()
}

func (r *Reader) read() (segue.Job, error) {
	for {
		switch {
		case r.expanding:
			r.nextTask()
		case r.ended == nil:
			r.nextRecord()
		default: // what was held back comes last
			j, ok := r.held.next()
			if !ok {
				return segue.Job{}, r.ended
			}
			if r.attempt(&j.Job, j.place()) {
				r.report.Records++
				return j.Job, nil
			}
			continue
		}
		if r.ready && r.admit() {
			r.report.Records++
			return r.rec.job, nil
		}
	}
}

// nextRecord reads the next record into r.rec; r.ready says whether there is
// one that can be used. At the end of the source it sets r.ended.
func (r *Reader) nextRecord() {
	r.ready = false
	r.rec = newRecord
	reason, err := r.source.read(&r.rec)
	if err != nil {
		r.ended = err
		return
	}
	r.report.Lines++
	if reason == noRecord {
		r.report.Other++
		return
	}
	if reason == usable {
		reason = r.rec.settle()
	}
	if reason != usable {
		r.note(reason)
		return
	}
	if task, ok := r.rec.tasks.next(); ok {
		r.rec.notes.add(ArrayExpanded)
		r.rec.job.ID.Sub = task
		r.expanding = true
	}
	for notes := uint64(r.rec.notes); notes != 0; notes &= notes - 1 {
		r.note(Reason(bits.TrailingZeros64(notes)))
	}
	r.ready = true
}

// nextTask puts the next task of the pending array in r.rec there.
func (r *Reader) nextTask() {
	task, ok := r.rec.tasks.next()
	r.ready, r.expanding = ok, ok
	if ok {
		r.report.Expanded++
		r.rec.job.ID.Sub = task
	}
}

// admit reports whether the job in r.rec is to be delivered now: it is held
// back while it has not ended, and dropped if it was met before.
func (r *Reader) admit() bool {
	j := &r.rec.job
	if earlier, ok := r.held.supersede(j); ok {
		r.report.add(SupersededRecord, earlier.place())
	}
	if !j.End.Known() && !j.State.Ended() && r.held.hold(j, r.source.place()) {
		return false
	}
	return r.attempt(j, place{r.source.place(), r.source.text})
}

// attempt reports whether j is new, and counts it among the attempts of its
// job.
func (r *Reader) attempt(j *segue.Job, at place) bool {
	what, attempts := r.seen.see(j)
	switch what {
	case isRepeat:
		reason := RepeatedRecord
		if !j.End.Known() && !j.State.Ended() {
			reason = SupersededRecord
		}
		r.report.add(reason, at)
		return false
	case isAttempt:
		r.report.add(LaterAttempt, at)
		if j.Restarts == 0 {
			j.Restarts = attempts
		}
	case isOtherUser:
		r.report.add(ReusedID, at)
	}
	return true
}

// note counts reason at the record in progress.
func (r *Reader) note(reason Reason) {
	text := r.source.text
	if reason.Class() == Rejected && r.rec.detail != "" {
		text = r.rec.complaint(text)
	}
	r.report.add(reason, place{r.source.place(), text})
}
