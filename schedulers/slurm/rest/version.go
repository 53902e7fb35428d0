package rest

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Versions of the API that the driver knows, v0.0.38 (Slurm 22.05) to v0.0.45
// (26.05), and the first in which a job is described by a parser of its own.
const (
	oldest = 38
	newest = 45
	typed  = 39 // Slurm 23.02
)

// api is how slurmrestd is spoken with.
type api struct {
	version string // "v0.0.40"
	number  int    // 40
	// database is true where there is an API of the accounting in the same version.
	database bool
	// duplicates is true where the accounting shows the earlier runs of a requeued
	// job only when it is asked to.
	duplicates bool
	release    string // of Slurm: "22.05.8"
	cluster    string // "" where the version does not say it
}

func (a *api) slurm(path string) string   { return "/slurm/" + a.version + "/" + path }
func (a *api) slurmdb(path string) string { return "/slurmdb/" + a.version + "/" + path }

// speaks finds out once what to speak, by the description that slurmrestd gives of
// itself, and whether it reaches slurmctld.
func (d *Driver) speaks(ctx context.Context) (*api, error) {
	d.finding.Lock()
	defer d.finding.Unlock()
	if a := d.spoken(); a != nil {
		return a, nil
	}
	a, err := d.discover(ctx)
	if err != nil {
		return nil, err
	}
	ping, err := d.ask(ctx, a.slurm("ping/"))
	if err != nil {
		return nil, err
	}
	a.release, a.cluster = string(ping.Meta.Slurm.Release), string(ping.Meta.Slurm.Cluster)
	if a.release == "" {
		return nil, segue.Errorf(segue.Unavailable, "slurmrestd: the answer to a ping names no release of Slurm")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.api = a
	return a, nil
}

func (d *Driver) spoken() *api {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.api
}

// forget lets it be found out again what to speak.
func (d *Driver) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.api = nil
}

func (d *Driver) discover(ctx context.Context) (*api, error) {
	const path = "/openapi/v3"
	_, payload, err := d.send(ctx, "GET", path, nil)
	if err != nil {
		return nil, segue.Errorf(segue.Unavailable, "slurmrestd: GET %s: %w", path, err)
	}
	var description struct {
		Paths map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(payload, &description); err != nil || len(description.Paths) == 0 {
		return nil, segue.Errorf(segue.Unavailable, "slurmrestd: GET %s: what is not a description of an API: %s", path, spelling.Excerpt(payload))
	}
	plugins := map[string]map[int]bool{"slurm": {}, "slurmdb": {}}
	for p := range description.Paths {
		if m := jobsPath.FindStringSubmatch(p); m != nil {
			plugins[m[1]][generation(m[2])] = true
		}
	}
	best := generation(d.cfg.Version)
	for n := range plugins["slurm"] {
		if d.cfg.Version == "" && n >= oldest && n <= newest {
			best = max(best, n)
		}
	}
	if best == 0 || !plugins["slurm"][best] {
		return nil, segue.Errorf(segue.Invalid, "slurmrestd does not speak %s of its API: it lists %d others", wanted(d.cfg.Version), len(plugins["slurm"]))
	}
	a := &api{version: "v0.0." + strconv.Itoa(best), number: best, database: plugins["slurmdb"][best]}
	for _, path := range []string{a.slurmdb("jobs"), a.slurmdb("jobs/")} {
		a.duplicates = a.duplicates || takes(description.Paths[path], "show_duplicates")
	}
	return a, nil
}

// takes reports whether the description of a path names a parameter of GET.
func takes(path json.RawMessage, parameter string) bool {
	var described struct {
		Get struct {
			Parameters []struct {
				Name string `json:"name"`
			} `json:"parameters"`
		} `json:"get"`
	}
	if json.Unmarshal(path, &described) != nil {
		return false
	}
	for _, p := range described.Get.Parameters {
		if p.Name == parameter {
			return true
		}
	}
	return false
}

var (
	jobsPath    = regexp.MustCompile(`^/(slurm|slurmdb)/(v0\.0\.\d+)/jobs/?$`)
	versionText = regexp.MustCompile(`^v0\.0\.(\d{1,4})$`)
)

// generation returns the last part of a version, 0 for what is none.
func generation(version string) int {
	m := versionText.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func wanted(version string) string {
	if version == "" {
		return "v0.0." + strconv.Itoa(oldest) + " to v0.0." + strconv.Itoa(newest)
	}
	return version
}
