package simulator_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// scenario is one cluster with its jobs and what must become of them.
type scenario struct {
	name  string
	cfg   simulator.Config
	jobs  []simulator.Job
	names []string          // of jobs
	want  map[string]string // by name

	users, groups map[string]int32
	line          int
	tb            testing.TB
	file          string
}

// parseScenarios reads a scenario file. Its lines are:
//
//	scenario NAME                   begins one; the rest belongs to it
//	pool NAME nodes=4 gpus=2
//	partition NAME pool=POOL tier=1 preempt=requeue factor=0.5
//	qos NAME factor=0.5 group-nodes=4 running=1 nodes=2 submitted=3
//	backfill none|easy|conservative|slurm      events per-event
//	slurm main=1m cycle=1m interval=10m window=48h resolution=10m tests=500 user-tests=0 depth=100
//	priority age=1000 fair-share=1 size=1 partition=1 qos=1 max-age=1h uncapped=1 favor-small=1 calc=5m half-life=1h
//	limits running=1 nodes=2 submitted=3
//	outage POOL nodes=1 from=1h until=2h drain=1
//	requeue-delay 2m
//	job NAME at=1m nodes=2 gpus=1 run=1h limit=2h user=ann partition=P qos=Q nice=5 begin=1h cancel=2h
//	         fails=1 singleton=G after=A+10m afterany=A afterok=A
//	want NAME 1h-2h preempted, 3h-4h     its runs, earlier attempts first;
//	                                      "gone 1h" without a run, or "never"
//
// Everything after # is a comment. Instants count from 0; at, run and limit
// default to 0s, 1h and the run time, everything else to nothing.
func parseScenarios(tb testing.TB, file, text string) []*scenario {
	tb.Helper()
	var all []*scenario
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "scenario" {
			all = append(all, &scenario{
				name: strings.Join(words[1:], " "), want: map[string]string{},
				users: map[string]int32{}, groups: map[string]int32{"": 0}, tb: tb, file: file,
			})
			continue
		}
		if len(all) == 0 {
			tb.Fatalf("%s:%d: no scenario before %q", file, i+1, words[0])
		}
		s := all[len(all)-1]
		s.line = i + 1
		s.read(words)
	}
	return all
}

func (s *scenario) read(words []string) {
	s.tb.Helper()
	verb, words := words[0], words[1:]
	switch verb {
	case "backfill":
		b, err := simulator.ParseBackfill(words[0])
		s.fatalIf(err)
		s.cfg.Backfill = b
	case "events":
		s.cfg.Events = simulator.PerEvent
	case "requeue-delay":
		s.cfg.RequeueDelay = s.duration(words[0])
	case "clean-up":
		s.cfg.CleanUp = s.duration(words[0])
	case "want":
		s.want[words[0]] = strings.Join(words[1:], " ")
	case "slurm", "priority", "limits":
		f := s.fields(words)
		s.setting(verb, f)
		f.done()
	case "pool", "partition", "qos", "outage", "job":
		f := s.fields(words[1:])
		s.add(verb, words[0], f)
		f.done()
	default:
		s.tb.Fatalf("%s:%d: unknown line %q", s.file, s.line, verb)
	}
}

func (s *scenario) setting(verb string, f *fields) {
	switch verb {
	case "slurm":
		s.cfg.Slurm = simulator.SlurmParameters{
			MainInterval: f.duration("main"), CycleInterval: f.duration("cycle"), BackfillInterval: f.duration("interval"), Window: f.duration("window"),
			Resolution: f.duration("resolution"), MaxJobTest: f.int("tests"), MaxJobUser: f.int("user-tests"),
			QueueDepth: f.int("depth"), RoundOutward: f.int("outward") == 1,
		}
	case "priority":
		s.cfg.Order.Multifactor = &simulator.Multifactor{
			Age: f.float("age"), FairShare: f.float("fair-share"), JobSize: f.float("size"),
			Partition: f.float("partition"), QOS: f.float("qos"), MaxAge: f.duration("max-age"),
			AgeUncapped: f.int("uncapped") == 1, FavorSmall: f.int("favor-small") == 1,
			CalcPeriod: f.duration("calc"), HalfLife: f.duration("half-life"),
		}
	case "limits":
		s.cfg.Limits = f.limits()
	}
}

func (s *scenario) add(verb, name string, f *fields) {
	switch verb {
	case "pool":
		s.cfg.Pools = append(s.cfg.Pools, simulator.Pool{Name: name, Nodes: f.int("nodes"), GPUsPerNode: f.int("gpus")})
	case "partition":
		s.cfg.Partitions = append(s.cfg.Partitions, simulator.Partition{
			Name: name, Pool: s.pool(f.text("pool")), Tier: f.int("tier"), Factor: f.float("factor"),
			Preempt: map[string]simulator.PreemptMode{
				"": simulator.PreemptOff, "requeue": simulator.PreemptRequeue, "cancel": simulator.PreemptCancel,
			}[f.text("preempt")],
		})
	case "qos":
		s.cfg.QOS = append(s.cfg.QOS, simulator.QOS{
			Name: name, Factor: f.float("factor"), GroupNodes: f.int("group-nodes"), Limits: f.limits(),
		})
	case "outage":
		s.cfg.Outages = append(s.cfg.Outages, simulator.Outage{
			Pool: s.pool(name), Nodes: f.int("nodes"), From: f.instant("from"), Until: f.instant("until"),
			Drain: f.int("drain") == 1,
		})
	case "job":
		s.names = append(s.names, name)
		s.jobs = append(s.jobs, s.job(f))
	}
}

func (s *scenario) job(f *fields) simulator.Job {
	j := simulator.Job{
		Submit: f.instant("at"), Run: f.duration("run"), Limit: f.duration("limit"), Nodes: int32(max(f.int("nodes"), 1)),
		GPUsPerNode: int32(f.int("gpus")), User: number(s.users, f.text("user")), Nice: int32(f.int("nice")),
		Begin: f.instant("begin"), CancelAt: f.instant("cancel"), Fails: f.int("fails") == 1,
		Singleton: number(s.groups, f.text("singleton")),
	}
	if j.Run == 0 && f.given["run"] == "" {
		j.Run = time.Hour
	}
	if j.Limit == 0 {
		j.Limit = max(j.Run, time.Second)
	}
	for i, p := range s.cfg.Partitions {
		if p.Name == f.given["partition"] {
			j.Partition = int32(i)
		}
	}
	for i, q := range s.cfg.QOS {
		if q.Name == f.given["qos"] {
			j.QOS = int32(i)
		}
	}
	f.text("partition")
	f.text("qos")
	for i, kind := range []string{"afterany", "afterok", "after"} {
		for other := range strings.SplitSeq(f.text(kind), ",") {
			if other == "" {
				continue
			}
			other, delay, _ := strings.Cut(other, "+")
			d := simulator.Dependency{Job: s.ref(other), Kind: simulator.DependencyKind(i)}
			if delay != "" {
				d.Delay = s.duration(delay)
			}
			j.After = append(j.After, d)
		}
	}
	return j
}

// ref returns the position of the job, which stands before the one that names
// it, or N for a later one that is written as +N.
func (s *scenario) ref(name string) simulator.Ref {
	for i, n := range s.names {
		if n == name {
			return simulator.Ref(i)
		}
	}
	s.tb.Fatalf("%s:%d: no job %q before this line", s.file, s.line, name)
	return 0
}

func (s *scenario) pool(name string) int {
	for i, p := range s.cfg.Pools {
		if p.Name == name {
			return i
		}
	}
	return 0
}

func (s *scenario) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	s.fatalIf(err)
	return d
}

func (s *scenario) fatalIf(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatalf("%s:%d: %v", s.file, s.line, err)
	}
}

func number(index map[string]int32, name string) int32 {
	i, ok := index[name]
	if !ok {
		i = int32(len(index))
		index[name] = i
	}
	return i
}

// fields are the key=value words of a line. A field that nothing asks for is an
// error.
type fields struct {
	*scenario
	given map[string]string
	asked map[string]bool
}

func (s *scenario) fields(words []string) *fields {
	f := &fields{scenario: s, given: map[string]string{}, asked: map[string]bool{}}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			s.tb.Fatalf("%s:%d: %q is not key=value", s.file, s.line, w)
		}
		f.given[key] = value
	}
	return f
}

func (f *fields) done() {
	f.tb.Helper()
	for key := range f.given {
		if !f.asked[key] {
			f.tb.Fatalf("%s:%d: unknown field %q", f.file, f.line, key)
		}
	}
}

func (f *fields) text(key string) string {
	f.asked[key] = true
	return f.given[key]
}

func (f *fields) duration(key string) time.Duration {
	if text := f.text(key); text != "" {
		return f.scenario.duration(text)
	}
	return 0
}

func (f *fields) instant(key string) segue.Time { return segue.Time(0).Add(f.duration(key)) }

func (f *fields) float(key string) float64 {
	text := f.text(key)
	if text == "" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	f.fatalIf(err)
	return v
}

func (f *fields) int(key string) int { return int(f.float(key)) }

func (f *fields) limits() simulator.Limits {
	return simulator.Limits{MaxRunningJobs: f.int("running"), MaxNodes: f.int("nodes"), MaxSubmittedJobs: f.int("submitted")}
}
