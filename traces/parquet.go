package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/segue-project/segue"
)

// parquetFile is a file that can be read at any place.
type parquetFile struct {
	io.ReaderAt
	size int64
}

// asParquet returns in as a Parquet file if it is one, or is said to be.
func asParquet(in io.Reader, opt Options) (parquetFile, bool, error) {
	forced := opt.Format == Parquet
	at, ok := in.(io.ReaderAt)
	seeker, canSeek := in.(io.Seeker)
	var f parquetFile
	if ok && canSeek {
		size, err := seeker.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = seeker.Seek(0, io.SeekStart)
		}
		if err == nil {
			f = parquetFile{at, size}
		}
	}
	if f.ReaderAt == nil {
		if forced {
			return f, false, segue.Errorf(segue.Invalid, "%s: Parquet has its table of contents at the end: give a file, not a pipe",
				opt.Name)
		}
		return f, false, nil
	}
	var magic [4]byte
	_, err := at.ReadAt(magic[:], 0)
	isParquet := err == nil && string(magic[:]) == "PAR1"
	if forced && !isParquet {
		return f, false, segue.Errorf(segue.Invalid, "%s is not Parquet: it does not begin with PAR1", opt.Name)
	}
	return f, isParquet && (forced || opt.Format == Auto), nil
}

// parquetSource reads a Parquet history one page at a time.
type parquetSource struct {
	name    string
	file    *parquet.File
	columns []*parquetColumn // by the file's column index; nil for a column that is not used
	texts   interner

	group int          // the next row group
	rows  parquet.Rows // of the row group in progress, or nil
	batch []parquet.Row
	n, at int   // how many rows batch holds, and the next of them
	row   int64 // the number of the current row, from 1
}

func newParquetSource(in parquetFile, header *Header, opt Options) (*parquetSource, error) {
	s := &parquetSource{name: opt.Name, batch: make([]parquet.Row, 128)}
	if err := checkFooter(opt.Name, in); err != nil {
		return nil, err
	}
	err := s.guard(func() (err error) {
		s.file, err = parquet.OpenFile(in, in.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return nil, segue.Errorf(segue.Corrupt, "%s begins like Parquet, but is damaged: %w", opt.Name, err)
	}
	if err := s.bind(); err != nil {
		return nil, err
	}
	readParquetHeader(s.file, header)
	return s, nil
}

// checkFooter refuses a file whose end is missing before its table of contents
// is taken for as long as it says.
func checkFooter(name string, in parquetFile) error {
	var tail [8]byte
	if in.size < 12 {
		return segue.Errorf(segue.Corrupt, "%s begins like Parquet, but ends after %d bytes", name, in.size)
	}
	if _, err := in.ReadAt(tail[:], in.size-8); err != nil && !errors.Is(err, io.EOF) {
		return segue.Errorf(segue.Unavailable, "read the end of %s: %w", name, err)
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:4]))
	if string(tail[4:]) != "PAR1" || footer > in.size-12 {
		return segue.Errorf(segue.Corrupt, "%s begins like Parquet, but its end is missing: the file was cut off", name)
	}
	return nil
}

// bind finds the columns of a history and refuses a file that lacks some.
func (s *parquetSource) bind() error {
	var missing, wrong []string
	schema := s.file.Schema()
	s.columns = make([]*parquetColumn, len(schema.Columns()))
	for i := range parquetColumns {
		c := &parquetColumns[i]
		leaf, ok := schema.Lookup(c.name)
		switch {
		case !ok && c.needed:
			missing = append(missing, c.name)
		case !ok:
		case leaf.Node.Type().Kind() != c.kind || leaf.MaxRepetitionLevel > 0 || !sameUnit(leaf.Node, c.node):
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", c.name, leaf.Node.Type(), c.node.Type()))
		default:
			s.columns[leaf.ColumnIndex] = c
		}
	}
	if missing == nil && wrong == nil {
		return nil
	}
	message := fmt.Sprintf("%s is Parquet, but no job history as written by segue trace convert", s.name)
	if missing != nil {
		message += ": the columns " + list(missing) + " are missing"
	}
	if wrong != nil {
		message += ": " + strings.Join(wrong, "; ")
	}
	return segue.Errorf(segue.Invalid, "%s", message)
}

// sameUnit refuses times of another unit than ours, and local ones.
func sameUnit(got, want parquet.Node) bool {
	w := want.Type().String()
	return !strings.HasPrefix(w, "TIMESTAMP") || got.Type().String() == w
}

// readParquetHeader takes up what the writer put beside the rows.
func readParquetHeader(f *parquet.File, h *Header) {
	h.UnixStart = segue.NoTime
	text := func(key string) string {
		v, _ := f.Lookup("segue." + key)
		return printable([]byte(v), 200)
	}
	count := func(key string) int64 {
		v, _ := strconv.ParseInt(text(key), 10, 64)
		return max(v, 0)
	}
	h.Computer, h.Installation, h.Zone = text("computer"), text("installation"), text("zone")
	h.MaxNodes, h.MaxProcs = count("max_nodes"), count("max_procs")
	h.MaxRecords = f.NumRows()
	if s, err := strconv.ParseInt(text("unix_start"), 10, 64); err == nil && s >= firstSecond && s <= lastSecond {
		h.UnixStart = segue.Seconds(s)
	}
}

// read implements source.
func (s *parquetSource) read(rec *record) (Reason, error) {
	for s.at >= s.n {
		if err := s.fill(); err != nil {
			return noRecord, err
		}
	}
	row := s.batch[s.at]
	s.at++
	s.row++
	rec.endGiven = true
	for _, v := range row {
		i := v.Column()
		if i < 0 || i >= len(s.columns) || s.columns[i] == nil || v.IsNull() {
			continue
		}
		c := s.columns[i]
		if v.Kind() != c.kind {
			return BadNumber, nil
		}
		if !c.set(rec, v, &s.texts) {
			return rec.reject(BadNumber, c.name, []byte(v.String())), nil
		}
	}
	return usable, nil
}

// fill reads the next batch of rows; io.EOF after the last row group.
func (s *parquetSource) fill() error {
	s.n, s.at = 0, 0
	err := s.guard(func() error {
		if s.rows == nil {
			groups := s.file.RowGroups()
			if s.group >= len(groups) {
				return io.EOF
			}
			s.rows = groups[s.group].Rows()
			s.group++
		}
		n, err := s.rows.ReadRows(s.batch)
		s.n = n
		if errors.Is(err, io.EOF) || (err == nil && n == 0) {
			err = s.rows.Close()
			s.rows = nil
		}
		return err
	})
	switch {
	case errors.Is(err, io.EOF) && s.row < s.file.NumRows():
		return segue.Errorf(segue.Corrupt, "%s: the data end early, after row %d of %d", s.name, s.row, s.file.NumRows())
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return segue.Errorf(segue.Corrupt, "%s: the data are damaged after row %d: %w", s.name, s.row, err)
	}
	return nil
}

// guard turns a panic of the Parquet library, which trusts what a damaged file
// says of itself, into an error.
func (s *parquetSource) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.rows = nil
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

// place implements source.
func (s *parquetSource) place() int64 { return s.row }

// text implements source.
func (s *parquetSource) text() []byte {
	var text []byte
	if s.at > 0 && s.at <= s.n {
		for _, v := range s.batch[s.at-1] {
			if i := v.Column(); i >= 0 && i < len(s.columns) && s.columns[i] != nil && !v.IsNull() {
				text = fmt.Appendf(text, "%s=%s ", s.columns[i].name, v)
			}
		}
	}
	return text
}

// progress implements source.
func (s *parquetSource) progress() (done, total int64) { return s.row, s.file.NumRows() }

// close implements source.
func (s *parquetSource) close() error {
	if s.rows == nil {
		return nil
	}
	return s.guard(s.rows.Close)
}
