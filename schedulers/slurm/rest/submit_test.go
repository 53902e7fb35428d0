package rest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// training is a submission of what people write.
func training(more ...string) schedulers.Submission {
	args := append(append([]string{
		"-A", "lab", "--partition=gpu", "-N2", "--ntasks-per-node=4", "-c", "6", "--gres=gpu:a100:4", "--mem=64G", "-J", "train", "--comment=mine",
		"--exclusive", "--no-requeue", "--open-mode=append", "-x", "n[7-9]", "--mail-type=END,FAIL", "-dafterany:17", "--begin=now+1hour", "--chdir=runs",
	}, more...), "train.sh")
	return schedulers.Submission{
		Token: "segue:abc/2.1", Extra: []string{"SEGUE_CHAIN=abc", "SEGUE_LINK=2"},
		Submission: segue.Submission{
			Args: args, ScriptAt: len(args) - 1, Script: []byte("#!/bin/bash\n#SBATCH --time=1-12:00:00 --output=log-%j\n#SBATCH -p other\npython train.py\n"),
			Env: []string{"PATH=/bin", "SLURM_JOB_ID=17", "SLURM_CPU_BIND=x", "SLURM_JWT=old", "SEGUE_LINK=1", "SBATCH_QOS=high"}, Dir: "/home/ada", Umask: 0o27,
			Limits: []segue.ResourceLimit{{Name: "NOFILE", Soft: 1024, Hard: 4096}},
		},
	}
}

func TestASubmissionInTheWordsOfEachVersion(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/bash\n#SBATCH --time=1-12:00:00 --output=log-%j\n#SBATCH -p other\npython train.py\n"
	tests := map[string]struct {
		version int
		job     string
	}{
		"22.05": {38, `{
			"account":"lab","comment":"mine segue:abc/2.1","cpus_per_task":"6","current_working_directory":"/home/ada/runs",
			"environment":{"PATH":"/bin","SBATCH_QOS":"high","SEGUE_CHAIN":"abc","SEGUE_LINK":"2","SLURM_PRIO_PROCESS":"0",
				"SLURM_RLIMIT_NOFILE":"1024","SLURM_SUBMIT_DIR":"/home/ada","SLURM_UMASK":"0027"},
			"exclude_nodes":"n[7-9]","exclusive":"exclusive","gres":"gpu:a100:4","mail_type":"END,FAIL","memory_per_node":"64G","name":"train",
			"no_requeue":true,"nodes":"2","open_mode":"append","partition":"gpu","qos":"high","standard_output":"log-%j","tasks_per_node":"4",
			"time_limit":"1-12:00:00"}`},
		"23.11": {40, `{
			"account":"lab","argv":["train.sh"],"comment":"mine segue:abc/2.1","cpus_per_task":6,"current_working_directory":"/home/ada/runs",
			"environment":["PATH=/bin","SBATCH_QOS=high","SEGUE_CHAIN=abc","SEGUE_LINK=2","SLURM_SUBMIT_DIR=/home/ada","SLURM_UMASK=0027",
				"SLURM_PRIO_PROCESS=0","SLURM_RLIMIT_NOFILE=1024"],
			"excluded_nodes":["n[7-9]"],"mail_type":["END","FAIL"],"memory_per_node":{"set":true,"infinite":false,"number":65536},
			"minimum_cpus":48,"name":"train","nodes":"2","open_mode":["APPEND"],"partition":"gpu","qos":"high","requeue":false,"shared":["none"],
			"standard_output":"log-%j","tasks":8,"tasks_per_node":4,"time_limit":{"set":true,"infinite":false,"number":2160},
			"tres_per_node":"gres:gpu:a100:4"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := translate(training(), tt.version)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(body.Job)
			if err != nil {
				t.Fatal(err)
			}
			var want, have any
			if err := json.Unmarshal([]byte(tt.job), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(got, &have); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, have); diff != "" || body.Script != script {
				t.Errorf("script %q; the job differs (-want +got):\n%s", body.Script, diff)
			}
		})
	}
}

func TestOptionsInTheWordsOfLaterVersions(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]any{
		"--gpus=8":                      {"tres_per_job": "gres/gpu:8"},
		"--gpus-per-node=a100:2":        {"tres_per_node": "gres/gpu:a100:2,gres/gpu:a100:4"},
		"--gpus-per-task=1":             {"tres_per_task": "gres/gpu:1"},
		"--signal=B:USR1@300":           {"kill_warning_signal": "USR1", "kill_warning_delay": quantity{Set: true, Number: 300}, "kill_warning_flags": []string{"BATCH_JOB"}},
		"--signal=SIGTERM":              {"kill_warning_signal": "TERM", "kill_warning_delay": quantity{Set: true, Number: 60}},
		"--nice":                        {"nice": 100},
		"--nice=-5":                     {"nice": -5},
		"--time=UNLIMITED":              {"time_limit": quantity{Set: true, Infinite: true}},
		"--time=0:30":                   {"time_limit": quantity{Set: true, Number: 1}},
		"--mem-per-cpu=1500":            {"memory_per_cpu": quantity{Set: true, Number: 1500}},
		"--mem=1T":                      {"memory_per_node": quantity{Set: true, Number: 1 << 20}},
		"--mail-type=TIME_LIMIT_80,END": {"mail_type": []string{"TIME=80%", "END"}},
		"--export=ALL,A=1":              {},
		"--dependency=singleton":        {"dependency": "singleton"},
		"--nodelist=n[1-2],n5":          {"required_nodes": []string{"n[1-2],n5"}},
		"--licenses=matlab:2":           {"licenses": "matlab:2"},
		"--constraint=[a|b]&c":          {"constraints": "[a|b]&c"},
		"--error=/tmp/e %j":             {"standard_error": "/tmp/e %j"},
		"--parsable":                    {},
		"--reservation=night":           {"reservation": "night"},
	}
	for option, want := range tests {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			body, err := translate(training(option), 43)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range want {
				if diff := cmp.Diff(value, body.Job[name]); diff != "" {
					t.Errorf("%s differs (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// What cannot be said is refused by its name, and not left out.
func TestWhatCannotBeSaid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		submission schedulers.Submission
		version    int
		want       string
	}{
		"an option that is not translated":     {training("--bb=x"), 43, "--bb"},
		"a container":                          {training("--container=/x"), 43, "--container"},
		"only some of the environment":         {training("--export=NONE"), 43, "--export"},
		"exclusive of one user":                {training("--exclusive=user"), 43, "--exclusive=user"},
		"a memory with a strange unit":         {training("--mem=5P"), 43, "--mem=5P"},
		"a signal in a version that has none":  {training("--signal=B:USR1@60"), 38, "--signal"},
		"a signal for the time of reservation": {training("--signal=R:USR1@60"), 43, "--signal"},
		"both to requeue and not to":           {training("--requeue"), 43, "--requeue"},
		"an array":                             {training("--array=1-3"), 43, "array"},
		"a bad time":                           {training("--time=soon"), 43, `--time: time limit "soon"`},
	}
	withArguments := training()
	withArguments.Args = append(withArguments.Args, "--lr", "0.1")
	latin := training()
	latin.Script = []byte("#!/bin/sh\necho \xe9\n")
	tests["a script that is not UTF-8"] = struct {
		submission schedulers.Submission
		version    int
		want       string
	}{latin, 43, "the script"}
	tests["arguments in a version that dies of them"] = struct {
		submission schedulers.Submission
		version    int
		want       string
	}{withArguments, 38, "arguments of the script"}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := translate(tt.submission, tt.version)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v; want an error of kind invalid that names %s", body.Job, err, tt.want)
			}
		})
	}
	body, err := translate(withArguments, 39)
	if diff := cmp.Diff([]string{"train.sh", "--lr", "0.1"}, body.Job["argv"]); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Report 38: quotes, line breaks and what is not ASCII arrive.
func TestTheBytesOfAScriptArrive(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/sh\necho \"a 'b' \\\\ $HOME\" <&1 >&2\n# é ☃ \x01\n"
	var got submission
	d := driver(t, says(t, map[string]http.HandlerFunc{"/job/submit": func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("body: %v, of type %q", err, r.Header.Get("Content-Type"))
		}
		_, _ = io.WriteString(w, `{"job_id":{"set":true,"infinite":false,"number":7},"job_submit_user_msg":"welcome"}`)
	}}))
	s := plain()
	s.Script = []byte(script)
	submitted, err := d.Submit(t.Context(), s)
	if err != nil || submitted.Job.Number != 7 || !strings.Contains(submitted.Says, "welcome") || got.Script != script {
		t.Errorf("%+v, %v; the script %q arrived as %q", submitted, err, script, got.Script)
	}
	s.Args, s.ScriptAt, s.Script = []string{`--wrap=echo "it's"`}, -1, nil
	if _, err := d.Submit(t.Context(), s); err != nil || !strings.HasSuffix(got.Script, "\necho \"it's\"\n") || !strings.HasPrefix(got.Script, "#!/bin/sh\n") {
		t.Errorf("%v; the wrapped command arrived as %q", err, got.Script)
	}
}
