package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/segue-project/segue/config"
)

// read returns the text of files of the repository that match a pattern.
func read(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// Alerts and the dashboard ask for metrics that there are, and the runbook tells of
// every alert and of no other.
func TestAlertsNameWhatThereIs(t *testing.T) {
	t.Parallel()
	defined := regexp.MustCompile(`(?:Name: |NewDesc\()"(segue_[a-z_]+)"`).FindAllStringSubmatch(read(t, "server/*.go")+read(t, "api/*.go"), -1)
	var metrics []string
	for _, m := range defined {
		metrics = append(metrics, m[1])
	}
	alerts := read(t, "packaging/prometheus/*.yaml")
	for _, used := range regexp.MustCompile(`segue_[a-z_]+`).FindAllString(alerts+read(t, "packaging/grafana/*.json"), -1) {
		if !slices.Contains(metrics, strings.TrimSuffix(used, "_bucket")) {
			t.Errorf("%s is no metric; there are %v", used, metrics)
		}
	}
	names := func(pattern, text string) []string {
		var all []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		return all
	}
	told, fired := names(`\| \*\*(Segue\w+)\*\*`, read(t, "docs/runbook.md")), names(`alert: (\w+)`, alerts)
	if !slices.Equal(told, fired) || len(fired) == 0 {
		t.Errorf("the runbook tells of %v, the alerts are %v", told, fired)
	}
}

// What the documents link to in packaging is in the packages, which hold the documents.
func TestWhatTheDocumentsLinkToIsShipped(t *testing.T) {
	t.Parallel()
	script := read(t, "scripts/dist")
	linked := regexp.MustCompile(`\]\(\.\./(packaging/\w+/)(\w+\.)(\w+)\)`).FindAllStringSubmatch(read(t, "docs/*.md"), -1)
	if len(linked) < 3 {
		t.Fatalf("%d links to packaging, want more", len(linked))
	}
	for _, m := range linked {
		if !strings.Contains(script, m[1]+m[2]+m[3]) && !strings.Contains(script, m[1]+"*."+m[3]) {
			t.Errorf("%s is linked to, and not shipped by scripts/dist", m[1]+m[2]+m[3])
		}
	}
}

// Metrics want a token: every job of Prometheus has a file for it, and nothing asks to
// be scraped by those who bring none.
func TestPrometheusBringsAToken(t *testing.T) {
	t.Parallel()
	var scrape struct {
		Jobs []struct {
			Name          string `yaml:"job_name"`
			Authorization struct {
				File string `yaml:"credentials_file"`
			}
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Load([]byte(read(t, "packaging/prometheus/scrape.yaml")), &scrape); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, job := range scrape.Jobs {
		got[job.Name] = job.Authorization.File
	}
	const file = "/etc/prometheus/segue.token"
	if diff := cmp.Diff(map[string]string{"segue": file, "segue-kubernetes": file}, got); diff != "" {
		t.Errorf("jobs, each with the file of its token (-want +got):\n%s", diff)
	}
	if strings.Contains(read(t, "packaging/kubernetes/deployment.yaml"), "annotations:") {
		t.Error("the pods have annotations, by which they are scraped without a token")
	}
}

// The unit of systemd makes the folders that it and the configuration of
// docs/operator.md name, and all users can reach the socket.
func TestTheUnitMakesTheFoldersThatAreWritten(t *testing.T) {
	t.Parallel()
	unit := read(t, "packaging/systemd/segue.service")
	setting := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
		if m == nil {
			t.Fatalf("the unit has no %s=", name)
		}
		return m[1]
	}
	state, socket := "/var/lib/"+setting("StateDirectory"), "/run/"+setting("RuntimeDirectory")+"/segue.sock"
	if mode := setting("RuntimeDirectoryMode"); mode != "0755" {
		t.Errorf("the folder of the socket has mode %s, want 0755", mode)
	}
	if got, want := setting("ExecStart"), "/usr/bin/segue serve --data "+state+" --socket "+socket+" $SEGUE_FLAGS"; got != want {
		t.Errorf("the unit starts %q, want %q", got, want)
	}
	file := fenced(read(t, "docs/operator.md"), "yaml")[0]
	c, err := config.Parse("operator.md", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != state || c.Socket != socket {
		t.Errorf("docs/operator.md has data %s and socket %s, want %s and %s", c.Data, c.Socket, state, socket)
	}
}
