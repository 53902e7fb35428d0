package traces

import (
	"strings"

	"github.com/segue-project/segue"
)

// role is what a column of sacct or of the Lonestar6 log is good for.
type role uint8

const (
	noRole role = iota
	roleJobID
	roleJobIDRaw
	roleName
	roleUser
	roleUID
	roleAccount
	rolePartition
	roleQOS
	roleSubmit
	roleEligible
	roleStart
	roleEnd
	roleElapsed
	roleElapsedRaw
	roleLimit
	roleLimitRaw
	roleNNodes
	roleAllocNodes
	roleReqNodes
	roleNCPUs
	roleAllocCPUs
	roleReqCPUs
	roleAllocTRES
	roleReqTRES
	rolePriority
	roleState
	roleExitCode
	roleRestarts
	numRoles
)

// roleOfColumn knows the columns that are used, by their names in lower case:
// sacct's, and the Lonestar6 log's where they differ.
var roleOfColumn = map[string]role{
	"jobid": roleJobID, "jobidraw": roleJobIDRaw, "jobname": roleName, "user": roleUser, "uid": roleUID,
	"account": roleAccount, "partition": rolePartition, "qos": roleQOS,
	"submit": roleSubmit, "eligible": roleEligible, "start": roleStart, "end": roleEnd,
	"elapsed": roleElapsed, "elapsedraw": roleElapsedRaw,
	"timelimit": roleLimit, "timelimitraw": roleLimitRaw, "timelimitr": roleLimitRaw,
	"nnodes": roleNNodes, "allocnodes": roleAllocNodes, "reqnodes": roleReqNodes,
	"ncpus": roleNCPUs, "alloccpus": roleAllocCPUs, "reqcpus": roleReqCPUs,
	"alloctres": roleAllocTRES, "reqtres": roleReqTRES,
	"priority": rolePriority, "state": roleState, "exitcode": roleExitCode, "restarts": roleRestarts,
}

// freeText are the columns, in lower case, in which users may write what they
// like, the separator included.
var freeText = map[string]bool{
	"jobname": true, "comment": true, "admincomment": true, "systemcomment": true, "submitline": true,
	"workdir": true, "stdin": true, "stdout": true, "stderr": true, "extra": true, "constraints": true,
	"container": true, "licenses": true, "reason": true, "wckey": true,
}

// columns are the columns of a table and where the useful ones are.
type columns struct {
	names []string
	roles []role
	free  []bool
	at    [numRoles]int // -1 where there is none
}

func newColumns(names []string) *columns {
	c := &columns{names: names, roles: make([]role, len(names)), free: make([]bool, len(names))}
	for r := range c.at {
		c.at[r] = -1
	}
	for i, name := range names {
		name = strings.ToLower(name)
		c.free[i] = freeText[name]
		if r := roleOfColumn[name]; r != noRole && c.at[r] < 0 {
			c.roles[i], c.at[r] = r, i
		}
	}
	return c
}

func (c *columns) has(oneOf ...role) bool {
	for _, r := range oneOf {
		if c.at[r] >= 0 {
			return true
		}
	}
	return false
}

// missing returns what a history needs and the table does not have, in words.
func (c *columns) missing() []string {
	var words []string
	for _, need := range []struct {
		words string
		any   []role
	}{
		{"JobID (or JobIDRaw)", []role{roleJobID, roleJobIDRaw}},
		{"Submit", []role{roleSubmit}},
		{"Start", []role{roleStart}},
		{"End (or Elapsed, ElapsedRaw)", []role{roleEnd, roleElapsed, roleElapsedRaw}},
		{"Timelimit (or TimelimitRaw)", []role{roleLimit, roleLimitRaw}},
		{
			"NNodes (or AllocNodes, ReqNodes, AllocTRES, ReqTRES)",
			[]role{roleNNodes, roleAllocNodes, roleReqNodes, roleAllocTRES, roleReqTRES},
		},
	} {
		if !c.has(need.any...) {
			words = append(words, need.words)
		}
	}
	return words
}

// plausible reports whether field could stand in column i. It is asked only of
// lines with too many separators, to find out which of them are text.
func (c *columns) plausible(i int, field []byte, clock *zoneClock) bool {
	var ignored reasonSet
	ok := true
	switch c.roles[i] {
	case roleJobID, roleJobIDRaw:
		_, _, reason := parseJobID(field)
		ok = reason == usable || reason == JobStep
	case roleSubmit, roleEligible, roleStart, roleEnd:
		_, ok = parseMoment(field, clock, &ignored)
	case roleElapsed:
		_, ok = segue.ParseClock(string(field))
		ok = ok || len(field) == 0
	case roleLimit, roleLimitRaw:
		_, ok = parseTableLimit(field)
	case roleNNodes, roleAllocNodes, roleReqNodes, roleNCPUs, roleAllocCPUs, roleReqCPUs,
		roleElapsedRaw, roleRestarts, rolePriority, roleUID:
		_, ok = parseCount(field)
	case roleAllocTRES, roleReqTRES:
		_, ok = parseTRES(field)
	case roleExitCode:
		_, _, ok = parseExitCode(field)
	case roleState:
		_, ok = parseState(field)
	}
	return ok
}
