package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Submit submits a job once: by sbatch where there are commands, which takes what
// was captured as it is, or else over REST, translated. The error is Invalid for
// what cannot be translated.
func (d *Driver) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	if d.cfg.Commands != nil {
		return d.cfg.Commands.Submit(ctx, s)
	}
	api, err := d.speaks(ctx)
	if err != nil {
		return schedulers.Submitted{}, err
	}
	body, err := translate(s, api.number)
	if err != nil {
		return schedulers.Submitted{}, fmt.Errorf("submit over slurmrestd: %w", err)
	}
	status, payload, err := d.send(ctx, http.MethodPost, api.slurm("job/submit"), body)
	if errors.Is(err, errNotSent) {
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "submit over slurmrestd: %w", err)
	}
	var a *answer
	if err == nil {
		a, err = read(status, payload)
	}
	if err != nil {
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "submit over slurmrestd: %w: %w", schedulers.ErrAmbiguous, err)
	}
	return a.submitted(status)
}

// submitted reads the answer to a submission. A job's number says that there is
// one, whatever else is in the answer: it complains of a job that is to be held.
func (a *answer) submitted(status int) (schedulers.Submitted, error) {
	number := max(a.JobID.value, a.Result.JobID.value)
	if number > 0 {
		says := []string{"Submitted batch job " + strconv.FormatInt(number, 10)}
		for _, c := range slices.Concat(a.Warnings, a.Errors) {
			says = append(says, c.Text)
		}
		if a.UserMessage != "" {
			says = append(says, string(a.UserMessage))
		}
		return schedulers.Submitted{Job: segue.JobID{Number: number}, Says: strings.Join(says, "; ")}, nil
	}
	all := strings.Join(a.harms(), "; ")
	switch {
	case all == "" || spelling.KindOf(all) == segue.Unavailable || strings.Contains(all, "Unspecified error") && status != http.StatusBadRequest:
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "submit over slurmrestd: %w: status %d: %q", schedulers.ErrAmbiguous, status, all)
	case spelling.Temporary(all):
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "submit over slurmrestd: %s", all)
	}
	return schedulers.Submitted{}, segue.Errorf(segue.Invalid, "submit over slurmrestd: %s", all)
}

// submission is the body of a request to submit.
type submission struct {
	Script string         `json:"script"`
	Job    map[string]any `json:"job"`
}

// translate returns what sbatch would ask for, as the API takes it in a version:
// the options of all sources, resolved as sbatch does, and what it adds of the
// process that runs it.
func translate(s schedulers.Submission, version int) (submission, error) {
	launch, err := sbatch.Later(s.Submission, s.Token, s.Extra, sbatch.ScriptName(s.Submission))
	if err != nil {
		return submission{}, err
	}
	j, err := sbatch.Read(sbatch.Input{Args: launch.Args, Env: launch.Env, Script: s.Script})
	if err != nil {
		return submission{}, err
	}
	if len(j.Refused) > 0 {
		return submission{}, segue.Errorf(segue.Invalid, "%s", strings.Join(j.Refused, "; "))
	}
	job, err := properties(j.Settings, version)
	if err != nil {
		return submission{}, err
	}
	dir := launch.Dir
	if to := j.Settings.Value("chdir"); to != "" {
		dir = to
		if !path.IsAbs(to) {
			dir = path.Join(launch.Dir, to)
		}
	}
	job["name"], job["current_working_directory"] = j.Name, dir
	if len(j.Arguments) > 0 && version < typed {
		return submission{}, cannot("arguments of the script", fmt.Sprintf("%q", j.Arguments[0])) // slurmrestd 22.05 dies of them
	}
	if version >= typed {
		job["argv"] = append([]string{cmp.Or(sbatch.ScriptName(s.Submission), "sbatch")}, j.Arguments...)
	}
	environment, err := environmentOf(launch, j.Settings)
	if err != nil {
		return submission{}, err
	}
	job["environment"] = environment
	if version < typed {
		job["environment"] = asMap(environment)
	}
	script := string(s.Script)
	if j.Line.Has("wrap") {
		script = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + j.Settings.Value("wrap") + "\n"
	}
	for what, text := range map[string]string{"the script": script, "the environment": strings.Join(environment, "\n"), "the arguments": strings.Join(launch.Args, "\n")} {
		if !utf8.ValidString(text) { // JSON can say nothing else
			return submission{}, cannot(what, "not UTF-8")
		}
	}
	return submission{Script: script, Job: job}, nil
}

// environmentOf returns the environment of the job: that of the submission, without
// a token that expires, and the variables by which sbatch hands on the umask, the
// limits and the place of the process.
func environmentOf(l sbatch.Launch, settings sbatch.Settings) ([]string, error) {
	export := settings.Export()
	if !export.All {
		return nil, cannot("--export", settings["export"].Place)
	}
	env := slices.DeleteFunc(slices.Clone(l.Env), func(kv string) bool { return strings.HasPrefix(kv, "SLURM_JWT=") })
	env = append(env, "SLURM_SUBMIT_DIR="+l.Dir, fmt.Sprintf("SLURM_UMASK=%04o", l.Umask&0o777), "SLURM_PRIO_PROCESS=0")
	for _, limit := range l.Limits {
		env = append(env, "SLURM_RLIMIT_"+limit.Name+"="+strconv.FormatUint(limit.Soft, 10))
	}
	for _, kv := range export.Names {
		if strings.Contains(kv, "=") {
			env = append(env, kv)
		}
	}
	return env, nil
}

// asMap returns an environment as 22.05 takes it. The last value of a name counts.
func asMap(env []string) map[string]string {
	m := make(map[string]string, len(env))
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			m[name] = value
		}
	}
	return m
}

// cannot is the error of what slurmrestd cannot be told.
func cannot(option, place string) error {
	return segue.Errorf(segue.Invalid, "%s (%s) cannot be said over slurmrestd: submit through the sbatch command", option, place)
}
