package traces

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// written writes a text to a file and returns its path.
func written(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestConversionSaysWhatItCouldNotExpress(t *testing.T) {
	t.Parallel()
	in := written(t, "in.sacct", sacctHead+trainedRow+strings.Replace(trainedRow, "7|train", "8|train", 1))
	out := filepath.Join(t.TempDir(), "out.log")
	c, err := Convert(in, out, ConvertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Loss{{"GPUs", 2}, {"QOS", 2}, {"account", 2}, {"eligible time", 2}, {"partition", 2}, {"processors", 2}}
	if diff := cmp.Diff(want, c.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if c.From != Sacct || c.To != LS6 || c.Written != 2 {
		t.Errorf("%s to %s, %d jobs; want sacct to ls6, 2 jobs", c.From, c.To, c.Written)
	}
	h, err := Load(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := h.Jobs[0].Start, trained(t).Start; got != want {
		t.Errorf("the start is %v, want %v", got, want)
	}
}

func TestFailedConversionLeavesNothing(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	good := sacctHead + trainedRow
	for name, test := range map[string]struct {
		in, out string
		opt     ConvertOptions
		want    string
	}{
		"no history":            {"hello\n", "out.swf", ConvertOptions{}, "no job history"},
		"rejects alone":         {sacctHead + "1|2\n", "out.parquet", ConvertOptions{}, "not one of its records"},
		"a header alone":        {sacctHead, "out.swf", ConvertOptions{}, "holds no jobs"},
		"a format not known":    {good, "out.xyz", ConvertOptions{}, "does not say which format"},
		"gzip of Parquet":       {good, "out.parquet.gz", ConvertOptions{}, "leave .gz off"},
		"stopped by the user":   {good, "out.sacct", ConvertOptions{Progress: func(int64, int64) error { return stop }}, "stop"},
		"damaged further on":    {string(gzipped(t, generated(t, Sacct, 3000))[:20_000]), "out.parquet", ConvertOptions{}, "end early"},
		"no such folder":        {good, "none/out.swf", ConvertOptions{}, "no such file or directory"},
		"a format only to read": {good, "out.swf", ConvertOptions{Write: WriteOptions{Format: 99}}, "format unknown cannot be written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := written(t, "in", test.in)
			dir := t.TempDir()
			c, err := Convert(in, filepath.Join(dir, test.out), test.opt)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v (%+v), want %q", err, c, test.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v is left behind (%v)", left, err)
			}
		})
	}
}

func TestAConversionKeepsLinksAndSparesDevices(t *testing.T) {
	t.Parallel()
	in := written(t, "in", sacctHead+trainedRow)
	dir := t.TempDir()
	old, link := filepath.Join(dir, "old.csv"), filepath.Join(dir, "link.csv")
	pipe := filepath.Join(dir, "pipe.csv")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := Convert(in, link, ConvertOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v, %v", info.Mode(), err)
	}
	if text := readFile(t, old); !bytes.HasPrefix(text, []byte("job_id,")) {
		t.Errorf("the file that the link leads to begins with %.20q, want a header", text)
	}

	if _, err := Convert(in, pipe, ConvertOptions{}); segue.KindOf(err) != segue.Invalid ||
		!strings.HasSuffix(err.Error(), "pipe.csv is a device or a pipe, want a file, or - for standard output") {
		t.Errorf("a pipe as a file: error is %v", err)
	}
	if _, err := Convert(in, dir, ConvertOptions{Write: WriteOptions{Format: CSV}}); segue.KindOf(err) != segue.Invalid ||
		!strings.HasSuffix(err.Error(), "is a folder, want a file") {
		t.Errorf("a folder as a file: error is %v", err)
	}
}

func TestStreamToSWFRefusesJobsBeforeItsStart(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w, err := NewWriter(&b, WriteOptions{Format: SWF})
	if err != nil {
		t.Fatal(err)
	}
	earlier := strings.Replace(strings.Replace(trainedRow, "7|", "8|", 1), "2024-03-01T10:00:00|", "2024-03-01T09:00:00|", 1)
	r, err := NewReader(strings.NewReader(sacctHead+trainedRow+earlier), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Copy(w, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Written != 1 || c.Refused != 1 {
		t.Errorf("wrote %d and refused %d, want 1 and 1", c.Written, c.Refused)
	}
}

func TestFormatsHaveNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{"swf": SWF, "LS6": LS6, "sacct": Sacct, "Parquet": Parquet, "csv": CSV, "auto": Auto, "": Auto} {
		if got, err := ParseFormat(name); err != nil || got != want {
			t.Errorf("ParseFormat(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := ParseFormat("xml"); segue.KindOf(err) != segue.Invalid {
		t.Errorf("xml gives %v", err)
	}
	for path, want := range map[string]Format{
		"a.swf": SWF, "a.SWF.gz": SWF, "dir.swf/a.log": LS6, "a.sacct": Sacct, "a.parquet": Parquet, "a.csv.gz": CSV, "a": Auto, "a.gz": Auto,
	} {
		if got := FormatOfPath(path); got != want {
			t.Errorf("FormatOfPath(%q) = %v, want %v", path, got, want)
		}
	}
}
