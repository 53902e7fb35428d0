package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
)

// A champion that is damaged keeps no server from starting: a planner decides, the
// log says why, and the champion decides once it is whole. A model that is named is
// meant.
func TestADamagedChampionKeepsNoServerFromStarting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	registry := models.NewRegistry(filepath.Join(dir, "models"), func() segue.Time { return segue.TimeOf(time.Now()) })
	if err := registry.Write(toymodel.Manifest("m1"), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
		t.Fatal(err)
	}
	if err := registry.Promote("m1", "the first"); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "models", "m1")
	file := filepath.Join(dir, "segue.yaml")
	write := func(model string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("data: "+dir+"\ncluster: {scheduler: none}\nmodel: "+model+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	write(champion)
	c, err := (&serveFlags{file: file}).settings()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := serverConfig(c, slog.New(slog.NewJSONHandler(&log, nil))); err != nil || !strings.Contains(log.String(), "until the champion can be read") {
		t.Fatalf("%v; the log says %s", err, log.String())
	}
	srv, decides := serverOf(t, c)
	if got := decides(); got != "" {
		t.Errorf("%s decides, want a planner", got)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if err := srv.FollowChampion(); err != nil {
		t.Fatal(err)
	}
	if got := decides(); got != "m1" {
		t.Errorf("%q decides once it is whole, want m1", got)
	}
	write(folder + ".gone")
	if err := checkServed(file); err == nil || !strings.Contains(err.Error(), "model: ") {
		t.Errorf("a model that is named: error %v, want that it cannot be read", err)
	}
}

// What a server refuses at its start, `segue config check` refuses, and the other
// way round: what is not there as well as what makes no sense.
func TestACheckedConfigurationCanBeUsed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"DATABASE_URL", "SEGUE_TRAINING_WEBHOOK", "SEGUE_SESSION_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		t.Setenv(name, "")
	}
	none := filepath.Join(dir, "none")
	for name, tt := range map[string]struct {
		text, variable, value string
		want                  string
	}{
		"good":                      {"listen: 127.0.0.1:7411\n", "", "", ""},
		"listens to all":            {"listen: 0.0.0.0:7411\n", "", "", "c.yaml:2:9: listen: "},
		"no such port":              {"listen: 127.0.0.1:99999\n", "", "", "c.yaml:2:9: listen: "},
		"no certificate":            {"tls: {certificate: " + none + ", key: " + none + "}\n", "", "", "certificate and key of TLS: "},
		"no key of sessions":        {"session_key_file: " + none + "\n", "", "", "session_key_file: "},
		"no such model":             {"model: chmpion\n", "", "", "model: "},
		"no sbatch there":           {"cluster: {scheduler: slurm, sbatch: " + none + "}\n", "", "", "cluster.scheduler is slurm: "},
		"a database of the wrong":   {"", "DATABASE_URL", "mysql://db", "DATABASE_URL (database_url): want postgres://"},
		"a webhook of the wrong":    {"", "SEGUE_TRAINING_WEBHOOK", "ftp://secret", "SEGUE_TRAINING_WEBHOOK (training.webhook): want https://"},
		"a short key, by the shell": {"", "SEGUE_SESSION_KEY", "short", "SEGUE_SESSION_KEY has 5 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.variable != "" {
				t.Setenv(tt.variable, tt.value)
			}
			file := filepath.Join(dir, "c.yaml")
			text := "data: " + dir + "\n" + tt.text
			if !strings.Contains(text, "cluster:") {
				text += "cluster: {scheduler: none}\n"
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			code := run([]string{"config", "check", file}, nil, &out, &errs)
			if tt.want == "" {
				if code != 0 || !strings.Contains(out.String(), "can be used") {
					t.Errorf("exit code %d, %s%s; want that it can be used", code, out.String(), errs.String())
				}
				return
			}
			if code == 0 || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("check: exit code %d, %s; want %q", code, errs.String(), tt.want)
			}
			errs.Reset()
			if code := run([]string{"serve", "--config", file}, nil, &out, &errs); code == 0 || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("serve: exit code %d, %s; want %q", code, errs.String(), tt.want)
			}
		})
	}
}
