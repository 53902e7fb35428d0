package rest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/internal/slurmtest"
)

// record writes what a real slurmrestd answers when jobs of several kinds are
// there, without what tells of the machine.
func record(t *testing.T, path string) {
	t.Helper()
	s := slurmtest.Start(t, slurmtest.Config{Nodes: 3, Accounting: true, REST: true})
	d, err := New(Config{URL: s.REST.Socket})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--time=30", "--gres=gpu:2", "--wait", "--comment=mine segue:abc/1.1", "--job-name=short", "--wrap=exit 3"},
		{"--time=30", "--job-name=killed", "--wait", "--wrap=kill -9 $$"},
		{"--time=2-00:00:00", "--nodes=2", "--gres=gpu:4", "--comment=mine segue:abc/2.1", "--job-name=train \"quoted\"", "--wrap=sleep 600"},
		{"--time=60", "--array=3,4-5,8%2", "--nodes=1", "--gres=gpu:4", "--job-name=sweep", "--nice=10", "--wrap=sleep 600"},
		{"--time=60", "--hold", "--nodes=3", "--job-name=held", "--wrap=true"},
		{"--time=60", "--job-name=cancelled", "--begin=now+1hour", "--wrap=true"},
	} {
		_ = s.Command(t.Context(), "sbatch", append([]string{"--output=/dev/null"}, args...)...).Run() // --wait tells how the job ended
	}
	for _, argv := range [][]string{
		{"scancel", "--name=cancelled"},
		{"scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=recorded"},
	} {
		if out, err := s.Command(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", argv, err, out)
		}
	}
	// Slurm settles, and tells slurmdbd.
	<-time.After(10 * time.Second)
	api, err := d.speaks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]json.RawMessage{}
	for name, address := range map[string]string{"jobs": api.slurm("jobs/"), "nodes": api.slurm("nodes/"), "accounted": api.slurmdb("jobs/?step=1%2C2%2C3")} {
		status, payload, err := d.send(t.Context(), "GET", address, nil)
		if err != nil || status != 200 {
			t.Fatalf("%s: status %d, %v", name, status, err)
		}
		answers[name] = payload
	}
	content, err := json.MarshalIndent(answers, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	text := strings.NewReplacer(`"`+host+`"`, `"host"`, s.Dir, "/home/ada", strings.ReplaceAll(s.Dir, "/", `\/`), `\/home\/ada`).Replace(string(content))
	text = regexp.MustCompile(`"operating_system": "[^"]*"`).ReplaceAllString(text, `"operating_system": "Linux"`)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
