package sbatch

import (
	"slices"
	"strings"
)

// Clean returns an environment without what the allocation has put there in
// which it was captured, so that a job submitted with it is not bound to that
// allocation's nodes, cores and limits. Outside of one nothing is removed:
// there, every variable is the user's own.
//
// Inside of one, which SLURM_JOB_ID tells, these go:
//   - SLURM_*, SLURMD_*, SLURMSTEPD_*, _SLURM_*, PMI_*, PMI2_*, PMIX_* and
//     SRUN_DEBUG, except for the few that only people set: SLURM_CONF,
//     SLURM_CLUSTERS, SLURM_TIME_FORMAT, SLURM_EXIT_ERROR, SLURM_EXIT_IMMEDIATE
//     and SLURM_DEBUG_FLAGS;
//   - SBATCH_CPU_BIND* and SBATCH_MEM_BIND*, which sbatch sets for its job. All
//     other SBATCH_* are the user's defaults, and stay;
//   - the lists of devices: CUDA_VISIBLE_DEVICES, GPU_DEVICE_ORDINAL,
//     HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and ZE_AFFINITY_MASK;
//   - ENVIRONMENT=BATCH.
//
// SLURM_JWT, which expires, and the variables of an enclosing chain (SEGUE_*)
// go in either case.
func Clean(env []string) []string {
	inside := slices.ContainsFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, "SLURM_JOB_ID=") || strings.HasPrefix(kv, "SLURM_JOBID=")
	})
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "SLURM_JWT" || slices.Contains(chainVariables, name):
			return true
		case !inside || slices.Contains(peoplesOwn, name):
			return false
		case name == "ENVIRONMENT":
			return value == "BATCH"
		}
		return slices.Contains(allocated, name) ||
			slices.ContainsFunc(allocatedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

var (
	peoplesOwn = []string{
		"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_TIME_FORMAT", "SLURM_EXIT_ERROR", "SLURM_EXIT_IMMEDIATE", "SLURM_DEBUG_FLAGS",
	}
	allocated = []string{
		"SRUN_DEBUG", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
	}
	allocatedPrefixes = []string{
		"SLURM_", "SLURMD_", "SLURMSTEPD_", "_SLURM_", "PMI_", "PMI2_", "PMIX_", "SBATCH_CPU_BIND", "SBATCH_MEM_BIND",
	}
)

// The variables that every link of a chain gets.
const (
	ChainVariable       = "SEGUE_CHAIN"       // the chain's ID
	LinkVariable        = "SEGUE_LINK"        // the number of the link, from 1
	PredecessorVariable = "SEGUE_PREDECESSOR" // the job number of the link before; not set in the first
	ReadyVariable       = "SEGUE_READY_FILE"  // the link makes this file when it is of use
)

var chainVariables = []string{ChainVariable, LinkVariable, PredecessorVariable, ReadyVariable}
