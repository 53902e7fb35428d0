package traces

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// WriteOptions say how to write a history.
type WriteOptions struct {
	// Format is what to write. Default for Create: what the file's name
	// promises; NewWriter needs one.
	Format Format
	// Zone is where the clock stands that writes times without a zone.
	// Default: America/Chicago for the Lonestar6 log, UTC for sacct.
	Zone *time.Location
	// Header is what SWF and Parquet say of the cluster. SWF counts times from
	// its UnixStart; 0 is the submission of the first job that is written, and
	// NoTime the epoch, in a file that does not say so.
	Header Header
}

// Writer writes a history one job at a time.
type Writer struct {
	format  Format
	encoder encoder
	out     *bufio.Writer
	gz      *gzip.Writer
	temp    *os.File // what Create writes until Close
	path    string
	losses  losses
}

// encoder is one format of writing.
type encoder interface {
	// begin writes the head of the file.
	begin() error
	// write writes one job and says what it could not express.
	write(j *segue.Job, lost losses) error
	// end writes the foot of the file.
	end() error
}

// Loss is something of which a format could not express all.
type Loss struct {
	What string // for example "account"
	Jobs int64  // how many jobs lost it
}

// losses counts by what was lost.
type losses map[string]int64

// add counts what if it was lost.
func (l losses) add(lost bool, what string) {
	if lost {
		l[what]++
	}
}

// Create writes a history to the file at path, gzip if the name ends in ".gz".
// The file appears under its name when Close succeeds, never half written.
func Create(path string, opt WriteOptions) (*Writer, error) {
	if opt.Format == Auto {
		opt.Format = FormatOfPath(path)
	}
	if opt.Format == Auto {
		return nil, segue.Errorf(segue.Invalid, "%s: the name does not say which format to write; "+
			"want an ending of .swf, .log, .sacct, .parquet or .csv, or the format", path)
	}
	zipped := strings.HasSuffix(strings.ToLower(path), ".gz")
	if zipped && opt.Format == Parquet {
		return nil, segue.Errorf(segue.Invalid, "%s: Parquet is compressed inside; leave .gz off", path)
	}
	path, err := throughLinks(path)
	if err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("create history: %w", err)
	}
	w := &Writer{temp: temp, path: path, losses: losses{}}
	out := io.Writer(temp)
	if zipped {
		w.gz = gzip.NewWriter(temp)
		out = w.gz
	}
	if err := w.start(out, opt); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// throughLinks returns the file that path leads to, and refuses what a file must
// not take the place of: a folder or a device such as /dev/null.
func throughLinks(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", fmt.Errorf("create history: %w", err)
	case info.IsDir():
		return "", segue.Errorf(segue.Invalid, "%s is a folder, want a file", path)
	case !info.Mode().IsRegular():
		return "", segue.Errorf(segue.Invalid, "%s is a device or a pipe, want a file, or - for standard output", path)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("create history: %w", err)
	}
	return target, nil
}

// NewWriter writes a history to out. Close completes it and leaves out open.
func NewWriter(out io.Writer, opt WriteOptions) (*Writer, error) {
	w := &Writer{losses: losses{}}
	if err := w.start(out, opt); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) start(out io.Writer, opt WriteOptions) error {
	w.format = opt.Format
	w.out = bufio.NewWriterSize(out, 1<<16)
	zone := opt.Zone
	if zone == nil {
		zone = time.UTC
		if opt.Format == LS6 {
			zone = lonestar6()
		}
	}
	switch opt.Format {
	case SWF:
		w.encoder = newSWFEncoder(w.out, opt.Header)
	case LS6:
		w.encoder = &ls6Encoder{out: w.out, clock: newZoneClock(zone)}
	case Sacct:
		w.encoder = &sacctEncoder{out: w.out, clock: newZoneClock(zone)}
	case Parquet:
		w.encoder = newParquetEncoder(w.out, opt.Header)
	case CSV:
		w.encoder = newCSVEncoder(w.out)
	default:
		return segue.Errorf(segue.Invalid, "write history: format %s cannot be written, want swf, ls6, sacct, parquet or csv", opt.Format)
	}
	return w.encoder.begin()
}

// Write writes one job. A job that the format cannot hold at all is Invalid,
// and the writer can go on; any other error is the disk's.
func (w *Writer) Write(j segue.Job) error {
	if err := w.encoder.write(&j, w.losses); err != nil {
		return fmt.Errorf("write job %s: %w", j.ID, err)
	}
	return nil
}

// Losses returns what the format could not express, what most jobs lost first.
func (w *Writer) Losses() []Loss {
	all := make([]Loss, 0, len(w.losses))
	for what, jobs := range w.losses {
		all = append(all, Loss{what, jobs})
	}
	slices.SortFunc(all, func(a, b Loss) int {
		if a.Jobs != b.Jobs {
			return int(b.Jobs - a.Jobs)
		}
		return strings.Compare(a.What, b.What)
	})
	return all
}

// Close completes the history; only then does a created file have its name.
func (w *Writer) Close() error {
	err := w.encoder.end()
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil && w.gz != nil {
		err = w.gz.Close()
	}
	if w.temp == nil {
		return err
	}
	if err == nil {
		err = w.temp.Chmod(0o644)
	}
	err = errors.Join(err, w.temp.Close())
	if err == nil {
		err = os.Rename(w.temp.Name(), w.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", w.path, errors.Join(err, os.Remove(w.temp.Name())))
	}
	return nil
}

// Abort gives the history up: a created file vanishes.
func (w *Writer) Abort() {
	if w.temp != nil {
		w.temp.Close()
		_ = os.Remove(w.temp.Name()) // the error that led here is the one to report
	}
}
