package passthrough

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

func TestProgramKnowsWhenItIsCalledAsSbatch(t *testing.T) {
	t.Parallel()
	for called, want := range map[string]string{
		"segue sbatch -N2 job.sh":    "-N2 job.sh",
		"/home/u/bin/sbatch job.sh":  "job.sh",
		"sbatch":                     "",
		"sbatch sbatch":              "sbatch",
		"segue advise sbatch":        "no",
		"segue --progress sbatch":    "no",
		"segue":                      "no",
		"/usr/bin/segue-sbatch -N2":  "no",
		"./sbatch-segue sbatch a.sh": "a.sh",
	} {
		args, ok := calledAsSbatch(strings.Fields(called))
		if got := strings.Join(args, " "); ok != (want != "no") || ok && got != want {
			t.Errorf("%q is called as sbatch with %q: %v, want %q", called, got, ok, want)
		}
	}
}

func TestTermsAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"plain.sh": "#!/bin/sh\ntrue\n#SEGUE --chain\n", "chain.sh": "#!/bin/sh\n#SEGUE --chain\n", "sub/in.sh": "#SEGUE\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]bool{
		"-N2 DIR/plain.sh":                    false,
		"-N2 DIR/chain.sh":                    true,
		"-N 2 --comment x DIR/chain.sh":       true,
		"--comment DIR/chain.sh DIR/plain.sh": false,
		"DIR/plain.sh DIR/chain.sh":           false,
		"--segue-links=3 DIR/plain.sh":        true,
		"DIR/plain.sh --segue-chain":          true, // looked at more closely later
		"--bank=x DIR/chain.sh":               true,
		"--wrap=DIR/chain.sh":                 false,
		"--help DIR/chain.sh":                 false,
		"DIR/nothing.sh":                      false,
		"DIR":                                 false,
		"-D DIR/sub in.sh":                    true,
		"--chdir=DIR chain.sh":                true,
		"/dev/null":                           false,
	} {
		call := Call{Args: strings.Fields(strings.ReplaceAll(args, "DIR", dir))}
		if got := call.mayBeChain(); got != want || call.Input != nil {
			t.Errorf("%s may be a chain: %v, want %v", args, got, want)
		}
	}
}

func FuzzTermsAreNoticedWhereTheyAre(f *testing.F) {
	for _, s := range []string{"#!/bin/sh\n#SEGUE --chain\n", "\n \n#SEGUE", " #SEGUE x", "a\n#SEGUE x\n", "#x\r\n\t#y\n#SEGUE '", "#SEGUE :"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		d := sbatch.ReadDirectives([]byte(script), "#SEGUE")
		if (len(d.Words) > 0 || d.Refused != "") && !hasTerms([]byte(script)) {
			t.Errorf("%q has terms %v %q, which are not noticed", script, d.Words, d.Refused)
		}
		if hasTerms([]byte(script)) && !strings.Contains(script, "#SEGUE") {
			t.Errorf("%q seems to have terms", script)
		}
	})
}

func TestRealSbatchIsTheNextOnPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"real/sbatch": "#!/bin/sh\necho site wrapper\n", "alias/sbatch": "#!/bin/sh\nexec segue sbatch \"$@\"\n", "text/sbatch": "not executable", "none/other": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o755)
		if strings.HasPrefix(name, "text") {
			mode = 0o644
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"early", "folder/sbatch"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "early/sbatch")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"real":       "real",
		"early:real": "real",
		"none:missing::early:alias:text:folder:real": "real",
		"early:alias": "",
		"":            "",
	} {
		var folders []string
		for folder := range strings.SplitSeq(path, ":") {
			if folder != "" {
				folder = filepath.Join(dir, folder)
			}
			folders = append(folders, folder)
		}
		got, err := Find("", strings.Join(folders, ":"))
		if want != "" {
			want = filepath.Join(dir, want, "sbatch")
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("on %s the real sbatch is %q, %v, want %q", path, got, err, want)
		}
	}
	if got, err := Find("/opt/sbatch", ""); got != "/opt/sbatch" || err != nil {
		t.Errorf("by name the real sbatch is %q, %v", got, err)
	}
}

// What this package imports is initialised before it, and so before every
// submission: the packages below are what os needs, and nothing of ours.
func TestLittleIsInitialisedBefore(t *testing.T) {
	t.Parallel()
	const self = "github.com/segue-project/segue/cmd/segue/passthrough"
	imports := func(pkg string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", pkg, err)
		}
		return strings.Fields(string(out))
	}
	known := map[string]bool{self: true}
	for _, pkg := range imports("os") {
		known[pkg] = true
	}
	var more []string
	for _, pkg := range imports(self) {
		if !known[pkg] {
			more = append(more, pkg)
		}
	}
	if diff := cmp.Diff([]string{"github.com/segue-project/segue/schedulers/slurm/sbatch/options"}, more); diff != "" {
		t.Errorf("imports beyond those of os (-want +got):\n%s", diff)
	}
}
