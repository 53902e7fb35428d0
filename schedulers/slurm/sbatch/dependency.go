package sbatch

import (
	"strconv"
	"strings"

	"github.com/segue-project/segue"
)

// Dependency is what a job waits for.
type Dependency struct {
	Clauses []Clause
	// Any is true when one of the clauses is enough ("?"); otherwise all are
	// needed (",").
	Any bool
}

// Clause is one condition: on other jobs, or "singleton" on those of the same
// name and user.
type Clause struct {
	Type string // "afterok"
	Jobs []DependencyJob
}

// DependencyJob is a job that another one waits for.
type DependencyJob struct {
	Job segue.JobID
	// AllTasks is true for "N_*": every task of an array.
	AllTasks bool
	// Minutes count from the job's start, with the type "after".
	Minutes int
}

var dependencyTypes = []string{
	"after", "afterany", "afterburstbuffer", "aftercorr", "afternotok", "afterok", "expand", "singleton",
}

// ParseDependency reads the value of --dependency: clauses such as
// "afterok:12:13" or "after:12+5", separated by "," (all) or "?" (any), never by
// both. Numbers alone ("12:13") mean "afterany" in the form of old.
func ParseDependency(text string) (Dependency, error) {
	var d Dependency
	d.Any = strings.Contains(text, "?")
	if d.Any && strings.Contains(text, ",") {
		return d, segue.Errorf(segue.Invalid, `dependency %q: want either "," between all conditions or "?"`, text)
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '?' }) {
		c, ok := parseClause(part)
		if !ok {
			return Dependency{}, segue.Errorf(segue.Invalid, "dependency %q: want singleton or one of %s, with job numbers: afterok:12:13",
				part, strings.Join(dependencyTypes, ", "))
		}
		d.Clauses = append(d.Clauses, c)
	}
	if len(d.Clauses) == 0 {
		return d, segue.Errorf(segue.Invalid, "an empty dependency")
	}
	return d, nil
}

func parseClause(text string) (Clause, bool) {
	c := Clause{Type: "afterany"}
	jobs := text
	if name, rest, _ := strings.Cut(text, ":"); text != "" && (text[0] < '0' || text[0] > '9') {
		c.Type, jobs = strings.ToLower(name), rest
		known := false
		for _, t := range dependencyTypes {
			known = known || t == c.Type
		}
		if !known || (c.Type == "singleton") != (jobs == "") {
			return c, false
		}
	}
	if c.Type == "singleton" {
		return c, true
	}
	for part := range strings.SplitSeq(jobs, ":") {
		id, minutes, delayed := strings.Cut(part, "+")
		number, task, isTask := strings.Cut(id, "_")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n == 0 || delayed && c.Type != "after" {
			return c, false
		}
		job := DependencyJob{Job: segue.JobID{Number: int64(n)}}
		switch {
		case isTask && task == "*":
			job.AllTasks = true
		case isTask:
			sub, err := strconv.ParseUint(task, 10, 31)
			if err != nil {
				return c, false
			}
			job.Job.Sub, job.Job.Kind = int32(sub), segue.ArrayTask
		}
		if delayed {
			m, err := strconv.ParseUint(minutes, 10, 31)
			if err != nil {
				return c, false
			}
			job.Minutes = int(m)
		}
		c.Jobs = append(c.Jobs, job)
	}
	return c, true
}

// singleton reports whether the text of a dependency asks that no two jobs of a
// name run at once.
func singleton(text string) bool {
	d, err := ParseDependency(text)
	for _, c := range d.Clauses {
		if err == nil && c.Type == "singleton" {
			return true
		}
	}
	return false
}
