package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// fakeSlurm is a folder of programs that answer as Slurm's do, and of the jobs that
// they know. A job starts at once, and its limit ends it: the one that the fake has
// for all jobs. It outlives whoever asks it, and no two submissions get one number.
type fakeSlurm struct{ dir string }

// fakePrograms are shell scripts, in which JOBS is the folder of the jobs and LIFE
// how many seconds each runs. The job's file holds its start, token and user.
var fakePrograms = map[string]string{
	"scontrol": `echo "ClusterName = fake"
echo "SLURM_VERSION = 22.05.8"
echo "AccountingStorageType = accounting_storage/none"
echo "MinJobAge = 86400 sec"`,
	"sinfo": `printf 'n1\037batch*\037idle\037gpu:4\036\n'`,
	"sbatch": `for word; do case $word in --comment=*) comment=${word#--comment=} ;; --parsable) parsable=1 ;; esac; done
n=1
until mkdir "JOBS/$n" 2>/dev/null; do n=$((n + 1)); done
echo "$(date +%s) ${comment:-none} $(id -un)" > "JOBS/$n/new"
mv "JOBS/$n/new" "JOBS/$n/job"
if [ "$parsable" ]; then echo "$n"; else echo "Submitted batch job $n"; fi`,
	"squeue": `now=$(date +%s) end=${SQUEUE_FORMAT2##*:0} # what it has after its last field
for job in JOBS/*/job; do
  [ -e "$job" ] || continue
  read -r start token user < "$job"
  number=${job%/job}
  state=RUNNING
  [ "$now" -lt $((start + LIFE)) ] || state=TIMEOUT
  uid=1001
  [ "$user" != nobody ] || uid=65534
  printf '%s\037%s\037%s\037%s\037batch\0371\0370:01:00\037%s\037%s\037%s\037%s\0371\037None\037gres/gpu=1\037n1\0370\0370\0370:0\0371\037\037normal\037\037\037\037\037train\037%s%s\n' \
    "${number##*/}" $state $uid "$user" "$start" "$start" "$start" $((start + LIFE)) "$token" "$end"
done`,
}

// newFakeSlurm makes one whose jobs run for life, in whole seconds.
func newFakeSlurm(t testing.TB, life time.Duration) fakeSlurm {
	t.Helper()
	f := fakeSlurm{t.TempDir()}
	for _, dir := range []string{f.bin(), f.jobs()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fill := strings.NewReplacer("JOBS", f.jobs(), "LIFE", fmt.Sprint(int(life.Seconds())))
	for name, text := range fakePrograms {
		if err := os.WriteFile(filepath.Join(f.bin(), name), []byte("#!/bin/sh\n"+fill.Replace(text)+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// accounting gives it one: sacct tells what is in the file that comes back, and fails
// while there is none.
func (f fakeSlurm) accounting(t testing.TB) (file string) {
	t.Helper()
	file = filepath.Join(f.dir, "accounting")
	config, err := os.ReadFile(filepath.Join(f.bin(), "scontrol"))
	config = []byte(strings.Replace(string(config), "accounting_storage/none", "accounting_storage/slurmdbd", 1))
	err = errors.Join(err, os.WriteFile(filepath.Join(f.bin(), "scontrol"), config, 0o755))
	sacct := "#!/bin/sh\ncase $* in --helpformat) echo JobID User Submit Start End Timelimit NNodes State ;; *)\n" +
		"for word; do case $word in --delimiter=*) between=${word#--delimiter=} ;; esac; done\nsed \"s/|/$between/g\" " + file + " ;; esac\n"
	if err = errors.Join(err, os.WriteFile(filepath.Join(f.bin(), "sacct"), []byte(sacct), 0o755)); err != nil {
		t.Fatal(err)
	}
	return file
}

func (f fakeSlurm) bin() string  { return filepath.Join(f.dir, "bin") }
func (f fakeSlurm) jobs() string { return filepath.Join(f.dir, "jobs") }

// lasting makes a job that carries a token and runs for an hour.
func (f fakeSlurm) lasting(t testing.TB, id segue.JobID, token string) {
	t.Helper()
	dir := filepath.Join(f.jobs(), id.String())
	text := fmt.Sprintf("%d %s %s\n", time.Now().Add(time.Hour).Unix(), token, userName())
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "new"), []byte(text), 0o644))
	if err = errors.Join(err, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "job"))); err != nil {
		t.Fatal(err)
	}
}

// tokens returns the tokens of all jobs, in order.
func (f fakeSlurm) tokens(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, words := range f.all(t) {
		all = append(all, words[1])
	}
	slices.Sort(all)
	return all
}

// all returns what is known of each job: its start, token and user.
func (f fakeSlurm) all(t testing.TB) [][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.jobs(), "*", "job"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Fields(string(text)))
	}
	return all
}
