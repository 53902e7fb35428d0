package browser

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs also writes the pictures that the documents show.
var docs = flag.Bool("docs", false, "write docs/screenshots too")

const repository = "../.."

// needed are the programs of the test, and the Debian packages that have them.
var needed = map[string]string{"node": "nodejs", "npm": "npm", "chromium": "chromium"}

// The dashboard of a filled server and of an empty one, visited in Chromium: every
// page, by keyboard too, without a script, with live updates, and the ways in which
// it is refused. What fails is told by visit.mjs.
func TestDashboardInARealBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	if why := missing(t); why != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Log(why)
		return
	}
	segue := build(t)
	full, empty := serve(t, segue, fill), serve(t, segue, nil)
	out := pictures(t, "out/screenshots")
	given := map[string]any{"full": full, "empty": empty, "out": out, "chromium": look(t, "chromium")}
	if *docs {
		given["docs"] = pictures(t, "docs/screenshots")
	}
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "visit.mjs", string(text))
	said, err := node.CombinedOutput()
	t.Logf("%s", said)
	if err != nil {
		t.Errorf("the visit failed: %v", err)
	}
}

// modules drive the browser, and look for what keeps people from using a page.
var modules = []string{"playwright-core", "axe-core"}

// missing says what the test lacks, "" for nothing. The modules are fetched by npm, at
// the versions of package-lock.json.
func missing(t *testing.T) string {
	t.Helper()
	for program, pkg := range needed {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("%s is not installed: apt-get install %s", program, pkg)
		}
	}
	if !slices.ContainsFunc(modules, absent) {
		return ""
	}
	fetch := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	if said, err := fetch.CombinedOutput(); err != nil {
		return fmt.Sprintf("%s cannot be fetched: %v\n%s", strings.Join(modules, " and "), err, said)
	}
	return ""
}

func absent(module string) bool {
	_, err := os.Stat(filepath.Join("node_modules", module, "package.json"))
	return err != nil
}

func look(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "segue")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/segue")
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build segue: %v\n%s", err, said)
	}
	return program
}

// pictures returns an absolute path of the repository, a folder that is there.
func pictures(t *testing.T, folder string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(repository, folder))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// site is a server, with the secrets of its tokens by user.
type site struct {
	URL    string            `json:"url"`
	Tokens map[string]string `json:"tokens"`
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// serve starts a server on a store that fill has filled, until the test ends.
func serve(t *testing.T, segue string, fill func(t *testing.T, dir string) map[string]string) site {
	t.Helper()
	dir := folder(t)
	s := site{Tokens: map[string]string{}}
	if fill != nil {
		s.Tokens = fill(t, dir)
	}
	config := filepath.Join(dir, "segue.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:0\ndata: %s\nmodels: %s\ncluster:\n  scheduler: none\n", dir, filepath.Join(dir, "models"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), segue, "serve", "--config", config)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "DATABASE_URL=")
	log := filepath.Join(t.TempDir(), "log")
	stderr, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it was told to end
		_ = stderr.Close()
		if t.Failed() {
			said, _ := os.ReadFile(log)
			t.Logf("the server's log:\n%s", said)
		}
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if s.URL = address.FindString(lines.Text()); s.URL != "" {
			break
		}
	}
	if s.URL == "" {
		said, _ := os.ReadFile(log)
		t.Fatalf("the server does not say where it answers:\n%s", said)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	secret, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	s.Tokens["operator"] = strings.TrimSpace(string(secret))
	return s
}

// folder returns a new folder for a server. The pages name it, and pictures of them are
// in the documents: it has a shorter name than the test.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "segue") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
