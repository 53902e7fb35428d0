package house

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// notInSegue are packages that the segue binary never links, and why. A path
// stands for everything under it too.
var notInSegue = map[string]string{
	"runtime/cgo":                                     "segue is pure Go, so that one file runs on every login node",
	"github.com/sugarme/gotch":                        "libtorch is for training: segue-trainer links it",
	"github.com/NVIDIA/go-nvml":                       "NVML is for nodes with GPUs: segue-gpu links it",
	"github.com/segue-project/segue/trainer/xgboost":  "libxgboost is for training: segue-trainer links it",
	"github.com/segue-project/segue/trainer/libtorch": "libtorch is for training: segue-trainer links it",
	"github.com/segue-project/segue/internal":         "internal packages are for tests",
	"testing": "test helpers stay in tests",
}

func TestSegueLinksNoNativeLibrary(t *testing.T) {
	t.Parallel()
	for dep := range strings.FieldsSeq(pureGo(t, "list", "-deps", "./cmd/segue")) {
		for banned, why := range notInSegue {
			if dep == banned || strings.HasPrefix(dep, banned+"/") {
				t.Errorf("segue links %s: %s", dep, why)
			}
		}
	}
}

func TestSegueIsStatic(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "segue")
	pureGo(t, "build", "-trimpath", "-o", binary, "./cmd/segue")
	if why := dynamic(t, binary); why != "" {
		t.Errorf("segue is not static: %s", why)
	}
}

func TestDynamicBinaryIsFound(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if dynamic(t, shell) == "" {
		t.Errorf("%s links libc, and is taken for static", shell)
	}
}

// dynamic returns what makes the program need a dynamic loader, "" when it
// needs none.
func dynamic(t *testing.T, program string) string {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "it names an interpreter"
		}
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(libraries, ", ")
}

// pureGo runs the go command on the repository for Linux without cgo, and
// returns what it prints.
func pureGo(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}
