package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/segue-project/segue/config"
)

// strictly reads a file of YAML below packaging, and refuses what the type does not name.
func strictly[T any](t *testing.T, name string) T {
	t.Helper()
	var v T
	if err := yaml.Load([]byte(read(t, "packaging/"+name)), &v, yaml.WithKnownFields()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// stage is one of a Dockerfile: what it is made from, the others that it copies from,
// and what it is told.
type stage struct {
	name, from string
	copies     []string
	lines      []string
}

// stages returns those of the Dockerfile, in order.
func stages(t *testing.T) []stage {
	t.Helper()
	var all []stage
	from := regexp.MustCompile(`^FROM (\S+)(?: AS (\S+))?$`)
	for line := range strings.Lines(strings.ReplaceAll(read(t, "Dockerfile"), "\\\n", "")) {
		line = strings.TrimSpace(line)
		if m := from.FindStringSubmatch(line); m != nil {
			all = append(all, stage{name: m[2], from: m[1]})
			continue
		}
		if len(all) == 0 {
			continue // what is said before the first stage
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, line)
		if m := regexp.MustCompile(`--from=(\S+)`).FindStringSubmatch(line); m != nil {
			last.copies = append(last.copies, m[1])
		}
	}
	return all
}

// needs returns the names of the stages without which the one at an index is not made,
// itself among them.
func needs(all []stage, at int) []string {
	names := []string{all[at].name}
	for _, other := range append(slices.Clone(all[at].copies), all[at].from) {
		if i := slices.IndexFunc(all[:at], func(s stage) bool { return s.name == other }); i >= 0 {
			names = append(names, needs(all, i)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Who asks for no target gets the small image, and compiles no libtorch for it, also
// where a builder makes all stages up to the one that it is asked for. Both images run
// as a user.
func TestTheSmallImageIsTheOneThatIsBuilt(t *testing.T) {
	t.Parallel()
	all := stages(t)
	at := func(name string) int {
		return slices.IndexFunc(all, func(s stage) bool { return s.name == name })
	}
	last := len(all) - 1
	for name, tt := range map[string]struct {
		at   int
		want []string
	}{
		"no target":        {last, []string{"", "base", "build", "server"}},
		"--target server":  {at("server"), []string{"base", "build", "server"}},
		"--target trainer": {at("trainer"), []string{"base", "build", "build-trainer", "trainer"}},
	} {
		if diff := cmp.Diff(tt.want, needs(all, tt.at)); diff != "" {
			t.Errorf("stages for %s (-want +got):\n%s", name, diff)
		}
		user := ""
		for _, s := range all[:tt.at+1] {
			for _, line := range s.lines {
				if name, is := strings.CutPrefix(line, "USER "); is && slices.Contains(needs(all, tt.at), s.name) {
					user = name
				}
			}
		}
		if user != "segue" {
			t.Errorf("%s: the image runs as %q, want segue", name, user)
		}
	}
	if at("server") > at("build-trainer") {
		t.Error("a builder that makes all stages up to --target server compiles the trainer")
	}
	if len(all[last].lines) > 0 {
		t.Errorf("the image without a target has %q, and --target server has not", all[last].lines)
	}
}

// composeService is what the files of compose say of a service, as far as ours do.
type composeService struct {
	Image       string
	Build       any
	Command     []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Environment map[string]string
	Ports       []string
	Volumes     []string
	Restart     string
	ReadOnly    bool `yaml:"read_only"`
	Tmpfs       []string
	SecurityOpt []string `yaml:"security_opt"`
	CapDrop     []string `yaml:"cap_drop"`
	Healthcheck struct {
		Test     []string
		Interval string
	}
}

type composeFile struct {
	Services map[string]composeService
	Volumes  map[string]any
}

// trains returns the configuration of servers in containers that train.
func trains(t *testing.T) config.Config {
	t.Helper()
	c, err := config.Parse("segue.yaml", []byte(read(t, "packaging/training/segue.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	if c.Training.Schedule == "" || c.Model != champion || !c.TLS.Elsewhere {
		t.Errorf("schedule %q, model %q, TLS elsewhere %t; want one, that of trainings, and true", c.Training.Schedule, c.Model, c.TLS.Elsewhere)
	}
	return c
}

// With the file for training beside it, the server of compose.yaml is of the image that
// has the trainer, reads the configuration that trains, and keeps its models.
func TestComposeTrains(t *testing.T) {
	t.Parallel()
	c := trains(t)
	base, more := strictly[composeFile](t, "compose.yaml"), strictly[composeFile](t, "training/compose.yaml")
	small, got := base.Services["segue"], more.Services["segue"]
	want := composeService{
		Build:   map[string]any{"context": small.Build, "target": "trainer"},
		Command: []string{"serve", "--config", "/etc/segue/segue.yaml"},
		Volumes: []string{"./training/segue.yaml:/etc/segue/segue.yaml:ro"}, // paths are those of the first file
	}
	if diff := cmp.Diff(want, got); diff != "" || len(more.Services) != 1 || len(more.Volumes) != 0 {
		t.Errorf("%d services, %d volumes; that of segue (-want +got):\n%s", len(more.Services), len(more.Volumes), diff)
	}
	if !slices.Contains(small.Volumes, "state:"+c.Data) || !strings.HasPrefix(c.Models, c.Data+"/") {
		t.Errorf("data is %s and models %s; the volumes are %v", c.Data, c.Models, small.Volumes)
	}
	if _, port, _ := strings.Cut(c.Listen, ":"); !slices.ContainsFunc(small.Ports, func(p string) bool { return strings.HasSuffix(p, ":"+port) }) {
		t.Errorf("the server listens on %s; the ports are %v", c.Listen, small.Ports)
	}
}

// object is what those of Kubernetes begin with.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
}

// With the overlay for training the replicas are of the image that has the trainer,
// read the configuration that trains, and share a volume for what it makes.
func TestKubernetesTrains(t *testing.T) {
	t.Parallel()
	c := trains(t)
	type kustomization struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Namespace  string
		Resources  []string
		Images     []struct {
			Name    string
			NewName string `yaml:"newName"`
			NewTag  string `yaml:"newTag"`
		}
		ConfigMaps []struct {
			Name  string
			Files []string
		} `yaml:"configMapGenerator"`
		Patches []struct{ Path string }
	}
	k := strictly[kustomization](t, "training/kustomization.yaml")
	files := slices.Clone(k.Resources)
	for _, p := range k.Patches {
		files = append(files, p.Path)
	}
	for _, m := range k.ConfigMaps {
		files = append(files, m.Files...)
	}
	for _, name := range files {
		if _, err := os.Stat(filepath.Join("..", "..", "packaging", "training", filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"../kubernetes", "models.yaml", "deployment.yaml", "segue.yaml"}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(k.Images) != 1 || k.Images[0].Name != "segue" || k.Images[0].NewName != "" || k.Images[0].NewTag != "trainer" {
		t.Errorf("images %+v, want segue:trainer", k.Images)
	}
	if base := strictly[kustomization](t, "kubernetes/kustomization.yaml"); k.Namespace != base.Namespace {
		t.Errorf("the namespace is %s, that of the others %s", k.Namespace, base.Namespace)
	}

	type claim struct {
		object `yaml:",inline"`
		Spec   struct {
			AccessModes []string `yaml:"accessModes"`
			Resources   struct{ Requests struct{ Storage string } }
		}
	}
	type volume struct {
		Name      string
		ConfigMap *struct{ Name string } `yaml:"configMap"`
		Claim     *struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
	type mount struct {
		Name string
		Path string `yaml:"mountPath"`
	}
	type deployment struct {
		object `yaml:",inline"`
		Spec   struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Name      string
						Args      []string
						Resources struct{ Limits struct{ Memory string } }
						Mounts    []mount `yaml:"volumeMounts"`
					}
					Volumes []volume
				}
			}
		}
	}
	models, patch := strictly[claim](t, "training/models.yaml"), strictly[deployment](t, "training/deployment.yaml")
	var base object
	if err := yaml.Load([]byte(read(t, "packaging/kubernetes/deployment.yaml")), &base); err != nil {
		t.Fatal(err)
	}
	if patch.object != base {
		t.Errorf("the patch is of %+v, want %+v", patch.object, base)
	}
	if len(patch.Spec.Template.Spec.Containers) != 1 || patch.Spec.Template.Spec.Containers[0].Name != "segue" {
		t.Fatalf("containers %+v, want that of segue", patch.Spec.Template.Spec.Containers)
	}
	server := patch.Spec.Template.Spec.Containers[0]
	mounts := map[string]string{}
	for _, m := range server.Mounts {
		mounts[m.Name] = m.Path
	}
	at := map[string]string{} // where each config map and claim is
	for _, v := range patch.Spec.Template.Spec.Volumes {
		switch {
		case v.ConfigMap != nil:
			at["config map "+v.ConfigMap.Name] = mounts[v.Name]
		case v.Claim != nil:
			at["claim "+v.Claim.ClaimName] = mounts[v.Name]
		}
	}
	want := map[string]string{"config map " + k.ConfigMaps[0].Name: path.Dir(server.Args[len(server.Args)-1]), "claim " + models.Metadata.Name: c.Models}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("what is mounted where (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"serve", "--config", "/etc/segue/segue.yaml"}, server.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if !slices.Equal(models.Spec.AccessModes, []string{"ReadWriteMany"}) {
		t.Errorf("the claim is for %v, and two replicas write it", models.Spec.AccessModes)
	}
}
