package traces

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/segue-project/segue"
)

// utf16Text returns s in UTF-16, little endian, without a byte order mark.
func utf16Text(s string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func TestWhatIsNoHistoryIsRefusedInWords(t *testing.T) {
	t.Parallel()
	packed := string(gzipped(t, []byte(sacctHead+trainedRow)))
	for name, test := range map[string]struct {
		text string
		opt  Options
		kind segue.Kind
		want []string
	}{
		"empty":            {"", Options{}, segue.Invalid, []string{"hist is empty", "Standard Workload Format"}},
		"empty but forced": {"", Options{Format: SWF}, segue.Invalid, []string{"hist is empty"}},
		"blank":            {"\n\n  \n", Options{}, segue.Invalid, []string{"no job history", `saw ""`}},
		"prose":            {"Dear colleagues,\nthe cluster is down.\n", Options{}, segue.Invalid, []string{"no job history", `saw "Dear colleagues,"`}},
		"numbers":          {"1 2 3\n4 5 6\n", Options{}, segue.Invalid, []string{"no job history", "18 numbers a line"}},
		"JSON":             {`{"jobs": [{"job_id": 1}]}`, Options{}, segue.Invalid, []string{`saw "{"jobs"`}},
		"binary":           {strings.Repeat("\x7fELF\x01\x02\x00\x03", 99), Options{}, segue.Invalid, []string{"saw binary data"}},
		"terminal commands": {
			"\x1b[31mred\x1b]0;title\x07\n",
			Options{},
			segue.Invalid,
			[]string{"saw \"\u00b7[31mred\u00b7]0;title\u00b7\""},
		},
		"UTF-16 with a mark":       {"\xff\xfe" + utf16Text(sacctHead), Options{}, segue.Invalid, []string{"UTF-16", "iconv"}},
		"UTF-16 without a mark":    {utf16Text(sacctHead), Options{}, segue.Invalid, []string{"UTF-16", "iconv"}},
		"UTF-16 and forced":        {utf16Text(sacctHead), Options{Format: Sacct}, segue.Invalid, []string{"UTF-16", "iconv"}},
		"zstd":                     {"\x28\xb5\x2f\xfd\x00\x00", Options{}, segue.Invalid, []string{"compressed with zstd", "zstd -dc"}},
		"zip":                      {"PK\x03\x04......", Options{}, segue.Invalid, []string{"compressed with zip", "unzip -p"}},
		"gzip of nothing":          {string(gzipped(t, nil)), Options{}, segue.Invalid, []string{"hist is empty"}},
		"gzip that is none":        {"\x1f\x8bno", Options{}, segue.Corrupt, []string{"gzip", "damaged"}},
		"gzip cut off at once":     {packed[:20], Options{}, segue.Corrupt, []string{"end early"}},
		"gzip with a flaw":         {"\x1f\x8b\bA00000000000", Options{}, segue.Corrupt, []string{"damaged after line 0"}},
		"sacct without its header": {trainedRow, Options{}, segue.Invalid, []string{"no job history", "header line"}},
		"sacct without its header, forced": {
			trainedRow,
			Options{Format: Sacct},
			segue.Invalid,
			[]string{"no header line", "saw \"7|train|ada"},
		},
		"sacct for the eye": {
			ls6Head + "478729         dimer.10  00000 2022-11-01T15:34:14 2022-10-05T11:52:48 2022-11-03T15:34:15\n",
			Options{},
			segue.Invalid,
			[]string{"table for the eye", "sacct --allusers"},
		},
		"controller error": {
			"slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
			Options{},
			segue.Invalid,
			[]string{"no job history", "Unable to contact slurm controller"},
		},
		"Parquet in a pipe":        {"PAR1....", Options{}, segue.Corrupt, []string{"begins like Parquet"}},
		"Parquet that is none":     {sacctHead, Options{Format: Parquet}, segue.Invalid, []string{"is not Parquet"}},
		"Parquet that is cut off":  {"PAR1" + strings.Repeat("x", 99), Options{}, segue.Corrupt, []string{"its end is missing"}},
		"a format only written":    {sacctHead, Options{Format: CSV}, segue.Invalid, []string{"csv cannot be read"}},
		"a log forced to be SWF":   {ls6Head, Options{Format: Parquet}, segue.Invalid, []string{"not Parquet"}},
		"sacct forced to be a log": {sacctHead, Options{Format: LS6}, segue.Invalid, []string{"no header line", "TimelimitR"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.opt.Name = "hist"
			h, err := readAll(test.text, test.opt)
			if segue.KindOf(err) != test.kind {
				t.Fatalf("got %v (%v), want %s", err, h, test.kind)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message lacks %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestParquetFromAPipeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := NewReader(onlyReader{strings.NewReader("PAR1....")}, Options{})
	if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "not a pipe") && !strings.Contains(err.Error(), "neither a pipe") {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none.swf"), Options{}); segue.KindOf(err) != segue.NotFound {
		t.Errorf("a missing file gives %v, want it to be not found", err)
	}
	if _, err := Open(dir, Options{}); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder gives %v", err)
	}
}

func TestHeaderWithoutRecordsIsAnEmptyHistory(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"sacct": sacctHead, "ls6": ls6Head, "swf": "; Version: 2.2\n; MaxNodes: 8\n", "a header that has no line end": strings.TrimSpace(sacctHead),
	} {
		h := read(t, text, Options{})
		if len(h.Jobs) != 0 || h.Findings.Other == 0 || len(h.Findings.Findings()) > 0 {
			t.Errorf("%s: %s", name, h.Findings.String())
		}
	}
}

func TestLinesOfEveryKindAreAccountedFor(t *testing.T) {
	t.Parallel()
	long := "8|" + strings.Repeat("x", maxLine) + "\n"
	for name, test := range map[string]struct {
		text     string
		jobs     int
		findings map[Reason]int64
	}{
		"Windows line ends":         {strings.ReplaceAll(sacctHead+trainedRow, "\n", "\r\n"), 1, nil},
		"a byte order mark":         {"\ufeff" + sacctHead + trainedRow, 1, nil},
		"a last line without end":   {sacctHead + strings.TrimSpace(trainedRow), 1, map[Reason]int64{NoFinalNewline: 1}},
		"a last line cut off":       {sacctHead + trainedRow + "8|train|ada|bi", 1, map[Reason]int64{CutOff: 1}},
		"an enormous line":          {sacctHead + long + trainedRow, 1, map[Reason]int64{LineTooLong: 1}},
		"an enormous line at last":  {sacctHead + trainedRow + strings.Repeat("z", 3*maxLine), 1, map[Reason]int64{LineTooLong: 1}},
		"zeros of a crashed writer": {sacctHead + strings.Repeat("\x00", 5000) + "\n" + trainedRow, 1, map[Reason]int64{NULByte: 1}},
		"only empty lines after":    {sacctHead + trainedRow + "\n\n   \n", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := read(t, test.text, Options{})
			if len(h.Jobs) != test.jobs {
				t.Errorf("%d jobs, want %d", len(h.Jobs), test.jobs)
			}
			wantFindings(t, &h.Findings, test.findings)
		})
	}
}

func TestDamagedGzipGivesTheJobsBeforeTheDamageAndThenAnError(t *testing.T) {
	t.Parallel()
	text := generated(t, SWF, 3000)
	packed := gzipped(t, text)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 0xff // in the checksum
	for name, test := range map[string]struct {
		packed         []byte
		fewest, cutOff int64
		want           string
	}{
		"cut off":           {packed[:len(packed)/2], 1000, 1, "end early"},
		"checksum is wrong": {flipped, 3000, 0, "damaged"},
		"rubbish behind":    {append(bytes.Clone(packed), "rubbish behind the data"...), 3000, 0, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "h.swf.gz")
			if err := os.WriteFile(path, test.packed, 0o600); err != nil {
				t.Fatal(err)
			}
			h, err := Load(path, Options{})
			if segue.KindOf(err) != segue.Corrupt || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("got %v, want it to be corrupt: %s", err, test.want)
			}
			if int64(len(h.Jobs)) < test.fewest || h.Findings.Count(CutOff) != test.cutOff {
				t.Errorf("%s, want at least %d jobs and %d lines cut off", h.Findings.String(), test.fewest, test.cutOff)
			}
			checkAccount(t, &h.Findings)
		})
	}
}

func TestReadingGoesOnFailingAfterTheEnd(t *testing.T) {
	t.Parallel()
	r, err := NewReader(strings.NewReader(sacctHead+trainedRow), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, io.EOF, io.EOF} {
		if _, err := r.Read(); !errors.Is(err, want) {
			t.Errorf("read %d gives %v, want %v", i, err, want)
		}
	}
}

// failing is a disk that breaks after some bytes.
type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("input/output error")
	}
	return n, err
}

func TestFailingDiskIsUnavailable(t *testing.T) {
	t.Parallel()
	r, err := NewReader(failing{strings.NewReader(sacctHead + trainedRow)}, Options{Name: "hist"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(); err != nil {
		t.Fatalf("the job before the failure gives %v", err)
	}
	if _, err := r.Read(); segue.KindOf(err) != segue.Unavailable || !strings.Contains(err.Error(), "after line 2") {
		t.Errorf("got %v, want it to be unavailable after line 2", err)
	}
}

func TestHistoryOfRejectsAloneIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "h.sacct")
	if err := os.WriteFile(path, []byte(sacctHead+"1|2|3\n4|5|6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, Options{})
	if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "2 too few columns (line 2: 1|2|3)") {
		t.Errorf("got %v", err)
	}
}
