package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
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

// Prometheus reads the rules, and every expression of them and of the dashboard.
func TestPrometheusReadsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	groups, errs := rulefmt.Parse([]byte(read(t, "packaging/prometheus/alerts.yaml")), false)
	if len(errs) > 0 || len(groups.Groups) == 0 {
		t.Errorf("the alerts: %v", errs)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "packaging/grafana/segue.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, panel := range dashboard.Panels {
		if len(panel.Targets) == 0 || ids[panel.ID] {
			t.Errorf("panel %d, %q, has %d expressions, want one or more, and a number of its own", panel.ID, panel.Title, len(panel.Targets))
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			if _, err := parser.ParseExpr(target.Expr); err != nil {
				t.Errorf("panel %q asks for %s: %v", panel.Title, target.Expr, err)
			}
		}
	}
	if len(ids) < 14 {
		t.Errorf("the dashboard has %d panels, want more", len(ids))
	}
}

// A container comes to its database whatever the password is.
func TestAPasswordMayHaveAnyLetters(t *testing.T) {
	const odd = "a@b/c:d?e#f%g"
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Load([]byte(read(t, "packaging/compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	env := compose.Services["segue"].Environment
	for name := range env {
		env[name] = strings.ReplaceAll(env[name], "${POSTGRES_PASSWORD}", odd)
	}
	t.Setenv("PGPASSWORD", env["PGPASSWORD"])
	got, err := pgx.ParseConfig(env["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"segue", odd, "database", "segue"}
	if diff := cmp.Diff(want, []string{got.User, got.Password, got.Host, got.Database}); diff != "" {
		t.Errorf("user, password, host and database (-want +got):\n%s", diff)
	}
}

// An image that was loaded into the nodes is used: without a word about it, the tag
// latest is asked of a registry.
func TestAnImageOfNoRegistryIsUsed(t *testing.T) {
	t.Parallel()
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Image string `yaml:"image"`
						Pull  string `yaml:"imagePullPolicy"`
					}
				}
			}
		}
	}
	if err := yaml.Load([]byte(read(t, "packaging/kubernetes/deployment.yaml")), &deployment); err != nil {
		t.Fatal(err)
	}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		if c.Image != "segue" || c.Pull != "IfNotPresent" {
			t.Errorf("image %q is pulled %q, want segue, IfNotPresent", c.Image, c.Pull)
		}
	}
	if n := len(deployment.Spec.Template.Spec.Containers); n != 1 {
		t.Errorf("%d containers, want 1", n)
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
