package sbatch

import (
	"errors"
	"strconv"
	"strings"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// variables are the environment variables that stand for options, in the order
// in which sbatch reads them. There are none for nodes, ntasks, cpus-per-task,
// dependency, begin, chdir, the mail options, comment, nodelist, exclude and
// parsable. Their names are irregular.
var variables = []struct{ name, option string }{
	{"SBATCH_ACCOUNT", "account"},
	{"SBATCH_ACCTG_FREQ", "acctg-freq"},
	{"SBATCH_ARRAY_INX", "array"},
	{"SBATCH_BATCH", "batch"},
	{"SBATCH_BURST_BUFFER", "bb"},
	{"SBATCH_CLUSTERS", "clusters"},
	{"SLURM_CLUSTERS", "clusters"},
	{"SBATCH_CLUSTER_CONSTRAINT", "cluster-constraint"},
	{"SBATCH_CONSOLIDATE_SEGMENTS", "consolidate-segments"},
	{"SBATCH_CONSTRAINT", "constraint"},
	{"SBATCH_CONTAINER", "container"},
	{"SBATCH_CONTAINER_ID", "container-id"},
	{"SBATCH_CORE_SPEC", "core-spec"},
	{"SBATCH_CPU_FREQ_REQ", "cpu-freq"},
	{"SBATCH_CPUS_PER_GPU", "cpus-per-gpu"},
	{"SBATCH_DELAY_BOOT", "delay-boot"},
	{"SBATCH_DISTRIBUTION", "distribution"},
	{"SBATCH_ERROR", "error"},
	{"SBATCH_EXCLUSIVE", "exclusive"},
	{"SBATCH_EXPORT", "export"},
	{"SBATCH_GET_USER_ENV", "get-user-env"},
	{"SBATCH_GPU_BIND", "gpu-bind"},
	{"SBATCH_GPU_FREQ", "gpu-freq"},
	{"SBATCH_GPUS", "gpus"},
	{"SBATCH_GPUS_PER_NODE", "gpus-per-node"},
	{"SBATCH_GPUS_PER_SOCKET", "gpus-per-socket"},
	{"SBATCH_GPUS_PER_TASK", "gpus-per-task"},
	{"SBATCH_GRES", "gres"},
	{"SBATCH_GRES_FLAGS", "gres-flags"},
	{"SLURM_HINT", "hint"},
	{"SBATCH_HINT", "hint"},
	{"SBATCH_INPUT", "input"},
	{"SBATCH_JOB_NAME", "job-name"},
	{"SBATCH_MEM_BIND", "mem-bind"},
	{"SBATCH_MEM_PER_CPU", "mem-per-cpu"},
	{"SBATCH_MEM_PER_GPU", "mem-per-gpu"},
	{"SBATCH_MEM_PER_NODE", "mem"},
	{"SBATCH_NETWORK", "network"},
	{"SBATCH_NO_KILL", "no-kill"},
	{"SBATCH_NO_REQUEUE", "no-requeue"},
	{"SBATCH_OPEN_MODE", "open-mode"},
	{"SBATCH_OUTPUT", "output"},
	{"SBATCH_OVERCOMMIT", "overcommit"},
	{"SBATCH_PARTITION", "partition"},
	{"SBATCH_POWER", "power"},
	{"SBATCH_PROFILE", "profile"},
	{"SBATCH_QOS", "qos"},
	{"SBATCH_REQ_SWITCH", "switches"},
	{"SBATCH_REQUEUE", "requeue"},
	{"SBATCH_RESERVATION", "reservation"},
	{"SBATCH_RUNTIME", "runtime"},
	{"SBATCH_SEGMENT_SIZE", "segment"},
	{"SBATCH_SIGNAL", "signal"},
	{"SBATCH_SPREAD_JOB", "spread-job"},
	{"SBATCH_SPREAD_SEGMENTS", "spread-segments"},
	{"SBATCH_THREAD_SPEC", "thread-spec"},
	{"SBATCH_THREADS_PER_CORE", "threads-per-core"},
	{"SBATCH_TIMELIMIT", "time"},
	{"SBATCH_TRES_BIND", "tres-bind"},
	{"SBATCH_TRES_PER_TASK", "tres-per-task"},
	{"SBATCH_USE_MIN_NODES", "use-min-nodes"},
	{"SBATCH_WAIT", "wait"},
	{"SBATCH_WAIT_ALL_NODES", "wait-all-nodes"},
	{"SBATCH_WAIT4SWITCH", "wait4switch"},
	{"SBATCH_WCKEY", "wckey"},
	{"SBATCH_IGNORE_PBS", "ignore-pbs"},
}

// fromEnvironment sets the options for which there are variables. A variable of
// a flag sets it when it is empty, "yes" or a number other than zero, and
// otherwise leaves it as it is; of any other option it is the value, even an
// empty one.
func (s Settings) fromEnvironment(env []string) {
	values := make(map[string]string, len(env))
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, "S") {
			values[name] = value
		}
	}
	for _, v := range variables {
		value, ok := values[v.name]
		if !ok || flags[v.option] && !setsFlag(value) {
			continue
		}
		s[v.option] = Setting{Value: value, HasValue: !flags[v.option], Source: Environment, Place: v.name}
	}
}

// flags are the options that take no value, and those that took none when
// variables for them were made.
var flags = func() map[string]bool {
	f := map[string]bool{"requeue": true}
	for i := range options.Sbatch {
		if o := &options.Sbatch[i]; o.Arity == options.None {
			f[o.Name] = true
		}
	}
	return f
}()

// setsFlag reports whether a variable of a flag with that value sets the flag.
func setsFlag(value string) bool {
	if value == "" || strings.EqualFold(value, "yes") {
		return true
	}
	n, err := strconv.ParseInt(strings.TrimLeft(value, spaces+"\n"), 10, 64)
	return n != 0 && (err == nil || errors.Is(err, strconv.ErrRange))
}
