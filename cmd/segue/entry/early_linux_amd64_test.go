package entry

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// vectorOf lays texts down as the kernel does.
func vectorOf(texts []string) vector {
	pointers := make([]*byte, len(texts)+1)
	for i, s := range texts {
		pointers[i] = &append([]byte(s), 0)[0]
	}
	return vector{unsafe.Pointer(unsafe.SliceData(pointers))}
}

// scripts are two files, the second of which begins a chain.
func scripts(tb testing.TB) (plainScript, chainScript string) {
	tb.Helper()
	dir := tb.TempDir()
	plainScript, chainScript = filepath.Join(dir, "plain.sh"), filepath.Join(dir, "chain.sh")
	for path, content := range map[string]string{
		plainScript: "#!/bin/sh\n#SBATCH -N2\n\n # note\ntrue\n#SEGUE --chain\n", chainScript: "#!/bin/sh\n#SEGUE --chain\ntrue\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return plainScript, chainScript
}

func TestPlainJobsAreKnownAndNothingElse(t *testing.T) { //nolint:paralleltest // memory is laid down once
	p, c := scripts(t)
	for args, want := range map[string]bool{
		"P":                          true,
		"P --segue-chain":            true, // the script's own
		"C":                          false,
		"P C":                        true,
		"-N 2 -t10 -vH --nodes=3 P":  true,
		"-N 2 C":                     false,
		"--comment C P":              true,
		"--comment=C P":              true,
		"-vJ name P":                 true,
		"-vJname C":                  false,
		"--nice P":                   true,
		"-k P":                       true,
		"-koff C":                    false,
		"-- P":                       true,
		"-- C":                       false,
		"--wrap hostname":            true,
		"--wrap=C":                   true,
		"--help":                     true,
		"-h C":                       true,
		"-vV":                        true,
		"--segue-chain P":            false,
		"--segue-links 3 P":          false,
		"--job=x P":                  false, // a shortened name
		"--bank=x P":                 false, // an unknown one
		"-Z P":                       false,
		"--hold=x P":                 false,
		"-D sub P":                   false,
		"-vD sub P":                  false,
		"--chdir=sub P":              false,
		"-N1 : -N2 P":                false,
		"nothing.sh":                 false,
		"":                           false, // standard input
		"-N":                         false,
		"/dev/null":                  false,
		"/":                          false,
		"--array=1-3 --exclusive= P": true,
	} {
		words := strings.Fields(strings.NewReplacer("P", p, "C", c).Replace(args))
		if got := plain(vectorOf(words), 0, len(words)); got != want {
			t.Errorf("%q is plain: %v, want %v", args, got, want)
		}
	}
}

func TestLongDirectivesAreLeftToTheCommand(t *testing.T) { //nolint:paralleltest // memory is laid down once
	path := filepath.Join(t.TempDir(), "long.sh")
	for lines, want := range map[int]bool{10: true, 1000: false} {
		content := "#!/bin/sh\n" + strings.Repeat("# a line of comment\n", lines) + "true\n"
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := plain(vectorOf([]string{path}), 0, 1); got != want {
			t.Errorf("a script after %d lines of comment is plain: %v, want %v", lines, got, want)
		}
	}
}

func FuzzPlainJobsAreNoChains(f *testing.F) {
	p, c := scripts(f)
	for _, args := range []string{"P", "-N|2|C", "--comment|C|P", "-vD|x|C", "--=|P", "--wrap|C", "-|--|C", "-hC", ":|C"} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		if strings.Contains(joined, "\x00") {
			return
		}
		words := strings.Split(strings.NewReplacer("P", p, "C", c).Replace(joined), "|")
		if !plain(vectorOf(words), 0, len(words)) {
			return
		}
		line := options.Submission.Read(words)
		for _, g := range line.Given {
			if g.Option != nil && g.Option.Segue() {
				t.Fatalf("%q is plain, and has %s", words, g.Typed)
			}
		}
		if line.Has("help") || line.Has("usage") || line.Has("version") || line.Has("wrap") {
			return
		}
		if line.Script == len(words) {
			t.Fatalf("%q is plain, and its script is on standard input", words)
		}
		script, err := os.ReadFile(words[line.Script])
		if err != nil {
			t.Fatal(err)
		}
		if d := sbatch.ReadDirectives(script, "#SEGUE"); len(d.Words) > 0 {
			t.Fatalf("%q is plain, and its script has %v", words, d.Words)
		}
	})
}

func TestRealSbatchIsFound(t *testing.T) { //nolint:paralleltest // memory is laid down once
	dir := t.TempDir()
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"real/sbatch": "\x7fELF", "site/sbatch": "#!/bin/sh\n", "text/sbatch": "no"} {
		path := filepath.Join(dir, name)
		mode := os.FileMode(0o755)
		if strings.HasPrefix(name, "text") {
			mode = 0o644
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "early"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(this, filepath.Join(dir, "early/sbatch")); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{
		"PATH=DIR/real": dir + "/real/sbatch",
		"A=1 PATH=:DIR/none:DIR/text:DIR/early:DIR/real": dir + "/real/sbatch",
		"PATH=DIR/site:DIR/real":                         "", // looked at more closely later
		"PATH=DIR/early":                                 "",
		"HOME=/":                                         "",
		"SEGUE_SBATCH=/opt/x PATH=DIR/real":              "/opt/x",
		"SEGUE_SBATCH= PATH=DIR/real":                    dir + "/real/sbatch",
		"PATH=DIR/real PATH=/none":                       dir + "/real/sbatch",
	} {
		words := strings.Fields(strings.ReplaceAll(env, "DIR", dir))
		list := vectorOf(words)
		got := ""
		if p := find(list); p != nil {
			found := []*byte{p, nil}
			got = vector{unsafe.Pointer(unsafe.SliceData(found))}.at(0)
			runtime.KeepAlive(found)
		}
		if got != want {
			t.Errorf("with %s the real sbatch is %q, want %q", env, got, want)
		}
	}
}
