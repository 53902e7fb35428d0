package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// fullDisk takes a few bytes and then no more.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return d.room, errors.New("no space left on device")
	}
	d.room -= len(p)
	return len(p), nil
}

func TestOutputThatIsLostIsAFailure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		room       int
		want       int
		wantStderr string
	}{
		"room for all":  {room: 100, want: ExitOK},
		"a full disk":   {room: 0, want: ExitFailure, wantStderr: "segue: write the output: no space left on device\n"},
		"full half-way": {room: 8, want: ExitFailure, wantStderr: "segue: write the output: no space left on device\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := &cobra.Command{Use: "segue", SilenceErrors: true, SilenceUsage: true}
			root.AddCommand(&cobra.Command{Use: "table", RunE: func(cmd *cobra.Command, _ []string) error {
				for line := range 4 {
					fmt.Fprintln(cmd.OutOrStdout(), "line", line) // as a table's rows: nobody looks at the error
				}
				return nil
			}})
			var stderr bytes.Buffer
			if got := Run(root, []string{"table"}, strings.NewReader(""), &fullDisk{tt.room}, &stderr); got != tt.want {
				t.Errorf("exit code is %d, want %d", got, tt.want)
			}
			if diff := cmp.Diff(tt.wantStderr, stderr.String()); diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAGoodFileStaysUntilTheNewOneIsWhole(t *testing.T) {
	t.Parallel()
	broken := errors.New("no space left on device")
	tests := map[string]struct {
		err         error // after the first half
		before      string
		wantContent string
		wantErr     string
	}{
		"a new file":             {wantContent: "first half, second half"},
		"an older one replaced":  {before: "good", wantContent: "first half, second half"},
		"an older one kept":      {before: "good", err: broken, wantContent: "good", wantErr: "no space left on device"},
		"nothing left of a half": {err: broken, wantErr: "no space left on device"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "report.html")
			wantFiles := []string{"report.html"}
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if tt.err != nil {
				wantFiles = nil
			}
			err := WriteFile(path, func(w io.Writer) error {
				if _, err := io.WriteString(w, "first half, "); err != nil {
					return err
				}
				if tt.err != nil {
					return tt.err
				}
				_, err := io.WriteString(w, "second half")
				return err
			})
			if (err != nil) != (tt.wantErr != "") || err != nil && !strings.HasSuffix(err.Error(), tt.wantErr) {
				t.Errorf("error is %v, want one that ends in %q", err, tt.wantErr)
			}
			content, _ := os.ReadFile(path)
			if diff := cmp.Diff(tt.wantContent, string(content)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, e := range entries {
				files = append(files, e.Name())
			}
			if diff := cmp.Diff(wantFiles, files); diff != "" {
				t.Errorf("files in the folder (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALinkIsWrittenThrough(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("an older and longer content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(target); string(content) != "new" {
		t.Errorf("the target has %q, want %q", content, "new")
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link is no link any more: %v, %v", info.Mode(), err)
	}
}

func TestAnOutputThatCannotBeWrittenIsSeenBeforehand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := map[string]struct{ path, want string }{
		"a new file":                       {path: filepath.Join(dir, "new")},
		"a device":                         {path: os.DevNull},
		"a folder":                         {path: dir, want: dir + " is a folder, want a file"},
		"in a folder that is not there":    {path: filepath.Join(dir, "no", "x"), want: "there is no folder " + filepath.Join(dir, "no")},
		"in a folder that takes no files":  {path: "/proc/x", want: "no file can be made in the folder /proc: "},
		"below a file instead of a folder": {path: filepath.Join(os.DevNull, "x"), want: "there is no folder " + os.DevNull},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := Writable(tt.path); err != nil {
				got = err.Error()
			}
			if got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("error is %q, want %q", got, tt.want)
			}
		})
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("looking left %v behind", entries)
	}
}
