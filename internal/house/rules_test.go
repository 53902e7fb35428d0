package house

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// wellBuilt is a small repository that keeps every rule.
var wellBuilt = map[string]string{
	"go.mod": "module example.org/segue\n\ngo 1.26\n\nrequire (\n" +
		"\tgithub.com/google/go-cmp v0.7.0\n\tgonum.org/v1/gonum v0.17.0 // indirect\n)\n",
	"ARCHITECTURE.md":      "policy, simulator and traces; [dependencies](docs/dependencies.md) and [rules](https://example.org).\n",
	"docs/dependencies.md": "| module | why |\n|---|---|\n| `github.com/google/go-cmp` | differences |\n",
	"doc.go":               "// Package segue is the vocabulary.\npackage segue\n\nimport \"time\"\n\ntype T = time.Time\n",
	"job_test.go":          "package segue\n\nimport \"github.com/google/go-cmp/cmp\"\n\nvar diff = cmp.Diff\n",
	"simulator/doc.go":     "// Package simulator replays.\npackage simulator\n\nimport _ \"example.org/segue\"\n",
	"policy/doc.go":        "// Package policy decides.\npackage policy\n\nimport _ \"example.org/segue/simulator\"\n",
	"traces/doc.go":        "// Package traces reads.\npackage traces\n\nimport _ \"os\"\n",
}

func TestEveryRuleFindsItsViolation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string // laid over wellBuilt; "" takes a file away
		want  []string
	}{
		"a house that keeps the rules": {},

		// Layers.
		"a package that the map does not know": {
			files: map[string]string{"helpers/doc.go": "// Package helpers helps.\npackage helpers\n"},
			want: []string{"helpers: this package is not on the map of the house: " +
				"give it a layer in internal/house/layers.go and a place in ARCHITECTURE.md"},
		},
		"a brain that imports a hand": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport _ \"example.org/segue/traces\"\n"},
			want:  []string{"policy/a.go:3: policy imports traces: a brain never imports a hand"},
		},
		"a brain that imports one after it": {
			files: map[string]string{"simulator/a.go": "package simulator\n\nimport _ \"example.org/segue/policy\"\n"},
			want: []string{"simulator/a.go:3: simulator imports policy: brains import only those before them in " +
				"budgets, simulator, outcomes, predictor, policy, evaluation, reports"},
		},
		"a server that imports the loops": {
			files: map[string]string{
				"ARCHITECTURE.md":    "api policy predictor provisioner server simulator store traces cmd/segue internal/shared",
				"provisioner/doc.go": "// Package provisioner keeps chains going.\npackage provisioner\n",
				"server/doc.go":      "// Package server serves.\npackage server\n\nimport _ \"example.org/segue/provisioner\"\n",
			},
		},
		"loops that import a server": {
			files: map[string]string{
				"ARCHITECTURE.md":    "api policy predictor provisioner server simulator store traces cmd/segue internal/shared",
				"provisioner/doc.go": "// Package provisioner keeps chains going.\npackage provisioner\n\nimport _ \"example.org/segue/server\"\n",
				"server/doc.go":      "// Package server serves.\npackage server\n",
			},
			want: []string{"provisioner/doc.go:4: provisioner imports server: a wire never imports another wire"},
		},
		"a hand that imports another hand": {
			files: map[string]string{"traces/a.go": "package traces\n\nimport _ \"example.org/segue/store\"\n"},
			want:  []string{"traces/a.go:3: traces imports store: a hand never imports another hand"},
		},
		"a hand and its own subpackages import each other": {
			files: map[string]string{"traces/synthetic/doc.go": "// Package synthetic makes histories up.\n" +
				"package synthetic\n\nimport _ \"example.org/segue/traces\"\n"},
		},
		"the root imports a brain": {
			files: map[string]string{"a.go": "package segue\n\nimport _ \"example.org/segue/policy\"\n"},
			want:  []string{"a.go:3: the root imports policy: a root never imports a brain"},
		},
		"shipped code that imports a test-only package": {
			files: map[string]string{"traces/a.go": "package traces\n\nimport _ \"example.org/segue/internal/shared\"\n"},
			want:  []string{"traces/a.go:3: traces imports internal/shared: only tests may"},
		},
		"a test may import upwards": {
			files: map[string]string{"policy/a_test.go": "package policy_test\n\nimport _ \"example.org/segue/traces\"\n"},
		},
		"the root imports another module": {
			files: map[string]string{"a.go": "package segue\n\nimport _ \"github.com/google/go-cmp/cmp\"\n"},
			want:  []string{"a.go:3: the root imports github.com/google/go-cmp/cmp: it imports the standard library only"},
		},

		// Brains.
		"a brain that reads files": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport _ \"os\"\n"},
			want:  []string{"policy/a.go:3: a brain imports os: a brain performs no I/O"},
		},
		"a brain that talks over the network": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport _ \"net/http\"\n"},
			want:  []string{"policy/a.go:3: a brain imports net/http: a brain performs no I/O"},
		},
		"a brain that locks": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport \"sync\"\n\nvar mu sync.Mutex\n"},
			want:  []string{"policy/a.go:3: a brain imports sync: a brain starts no goroutine, so it has nothing to lock"},
		},
		"a brain that imports a module of which nobody said that it is pure": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport _ \"github.com/google/go-cmp/cmp\"\n"},
			want: []string{"policy/a.go:3: a brain imports github.com/google/go-cmp/cmp: " +
				"if it is pure, name its module in brainModules of internal/house/brains.go"},
		},
		"a brain that starts a goroutine": {
			files: map[string]string{"policy/a.go": "package policy\n\nfunc f() {\n\tgo f()\n}\n"},
			want:  []string{"policy/a.go:4: a brain starts a goroutine: only the wires do"},
		},
		"a brain that prints": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport \"fmt\"\n\nfunc f() { fmt.Println(fmt.Sprint(1)) }\n"},
			want:  []string{"policy/a.go:5: a brain uses fmt.Println: a brain performs no I/O"},
		},
		"a brain that sleeps, under another name": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport clock \"time\"\n\nfunc f() { clock.Sleep(clock.Hour) }\n"},
			want:  []string{"policy/a.go:5: a brain uses time.Sleep: a brain has no clock; take the instant as an argument"},
		},
		"a brain that draws from global randomness": {
			files: map[string]string{"policy/a.go": "package policy\n\nimport \"math/rand/v2\"\n\n" +
				"var r = rand.New(rand.NewPCG(1, 2))\n\nvar x = rand.IntN(3)\n"},
			want: []string{"policy/a.go:7: a brain uses IntN of math/rand/v2: " +
				"it draws from global randomness; take a seeded *rand.Rand"},
		},
		"the test of a brain is free": {
			files: map[string]string{"policy/a_test.go": "package policy\n\nimport (\n\t_ \"os\"\n\t_ \"sync\"\n)\n"},
		},

		// Clock.
		"a hand that reads the clock": {
			files: map[string]string{"traces/a.go": "package traces\n\nimport \"time\"\n\nvar now = time.Now\n"},
			want:  []string{"traces/a.go:5: time.Now outside commands and drivers: take the instant, or a clock, as an argument"},
		},
		"a scheduler driver may read the clock": {
			files: map[string]string{
				"ARCHITECTURE.md":           "policy simulator traces schedulers",
				"schedulers/slurm/slurm.go": "// Package slurm drives.\npackage slurm\n\nimport \"time\"\n\nvar now = time.Now\n",
			},
		},
		"a test that sleeps": {
			files: map[string]string{"traces/a_test.go": "package traces\n\nimport \"time\"\n\nfunc f() { time.Sleep(time.Second) }\n"},
			want:  []string{"traces/a_test.go:5: a test sleeps: wait for the event, or use testing/synctest"},
		},

		// Shape.
		"a package without a comment": {
			files: map[string]string{"traces/doc.go": "package traces\n"},
			want: []string{"traces: has no package comment: " +
				"say in doc.go what it is, what it never does, and where to start reading"},
		},
		"a package with two comments": {
			files: map[string]string{"traces/read.go": "// Package traces writes.\npackage traces\n"},
			want:  []string{"traces/read.go:1: a second package comment: the first is in traces/doc.go"},
		},
		"a package comment that go doc does not like": {
			files: map[string]string{"traces/doc.go": "// Reads traces.\npackage traces\n"},
			want:  []string{`traces/doc.go:1: the package comment does not begin with "Package traces "`},
		},
		"a file that is too long": {
			files: map[string]string{"traces/a.go": "package traces\n" + strings.Repeat("\n", 500)},
			want:  []string{"traces/a.go: has 501 lines, want at most 500: split it by what it is about"},
		},
		"a test that skips itself": {
			files: map[string]string{"traces/a_test.go": "package traces\n\nimport \"testing\"\n\n" +
				"func TestA(t *testing.T) {\n\tt.Skipf(\"%d\", 1)\n}\n\nfunc read(r reader) { r.Skip(1) }\n"},
			want: []string{"traces/a_test.go:6: a test skips itself: make it run everywhere, or fail"},
		},

		// Documents.
		"a link that leads nowhere": {
			files: map[string]string{"README.md": "# Segue\n\nSee [this](docs/none.md#top), [that](ARCHITECTURE.md) and `[code](x.md)`.\n" +
				"```\n[block](y.md)\n```\n[end]: ../z.md\n"},
			want: []string{
				"README.md:3: the link to docs/none.md#top leads nowhere",
				"README.md:7: the link to ../z.md leads nowhere",
			},
		},
		"a dependency that nobody explained": {
			files: map[string]string{"traces/a.go": "package traces\n\nimport _ \"gonum.org/v1/gonum/stat\"\n"},
			want: []string{"docs/dependencies.md: no row for gonum.org/v1/gonum: " +
				"say why not a hundred lines of ours, its licence, what it pulls in"},
		},
		"a dependency that nothing imports any more": {
			files: map[string]string{"job_test.go": ""},
			want:  []string{"docs/dependencies.md:3: nothing imports github.com/google/go-cmp: remove the row"},
		},
		"a package that the architecture does not name": {
			files: map[string]string{"budgets/doc.go": "// Package budgets counts.\npackage budgets\n"},
			want:  []string{"ARCHITECTURE.md: does not name the package budgets"},
		},
		"no architecture": {
			files: map[string]string{"ARCHITECTURE.md": ""},
			want:  []string{"ARCHITECTURE.md: cannot be read: open ARCHITECTURE.md: file does not exist"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := Read(laidOver(wellBuilt, tt.files))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range Problems(tree) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"a folder without go.mod":     {map[string]string{"go.mod": ""}, "read repository: open go.mod: file does not exist"},
		"a go.mod without a module":   {map[string]string{"go.mod": "go 1.26\n"}, "read repository: go.mod names no module"},
		"a file that does not parse":  {map[string]string{"doc.go": "pakage segue\n"}, "read repository: doc.go:1:1: expected 'package', found pakage"},
		"not what the go tool leaves": {map[string]string{"traces/testdata/a.go": "no Go", ".cache/b.go": "no Go", "out/c.go": "no Go", "web/node_modules/d.go": "no Go"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if _, err := Read(laidOver(wellBuilt, tt.files)); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("error is %q, want %q", got, tt.want)
			}
		})
	}
}

// laidOver returns base with the files of over; an empty one is taken away.
func laidOver(base, over map[string]string) fstest.MapFS {
	fsys := make(fstest.MapFS)
	for _, files := range []map[string]string{base, over} {
		for name, text := range files {
			if text == "" {
				delete(fsys, name)
			} else {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
	}
	return fsys
}
