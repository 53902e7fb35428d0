package sbatch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

func TestTermsOfAChainAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   string
		script []byte
		want   *segue.Terms // nil for no chain
	}{
		"none":                        {"-N2 job.sh", script("#SBATCH -N2"), nil},
		"a line of the script":        {"job.sh", script("#SEGUE --chain --links 5"), &segue.Terms{MaxLinks: 5}},
		"lines among others":          {"job.sh", script("#SBATCH -N2", "# note", "#SEGUE --chain", "#SEGUE --prefer no-gap"), &segue.Terms{Prefer: segue.NoGap}},
		"option and value apart":      {"job.sh", script("#SEGUE --chain --for", "#SEGUE 30d"), &segue.Terms{MaxTime: 30 * 24 * time.Hour}},
		"lines after a command":       {"job.sh", []byte("#!/bin/sh\ntrue\n#SEGUE --chain\n"), nil},
		"other comments":              {"job.sh", script("# SEGUE --chain", "##SEGUE --chain", "#segue --chain"), nil},
		"the command line":            {"--segue-chain --segue-links=3 -N2 job.sh", script(), &segue.Terms{MaxLinks: 3}},
		"the command line wins":       {"--segue-links=3 job.sh", script("#SEGUE --chain --links 9 --startup 20m"), &segue.Terms{MaxLinks: 3, Startup: 20 * time.Minute}},
		"the command line says no":    {"--segue-chain=no job.sh", script("#SEGUE --chain --links 9"), nil},
		"the command line says yes":   {"--segue-chain=yes job.sh", nil, &segue.Terms{}},
		"after the script's name":     {"job.sh --segue-chain", script(), nil},
		"the value of another option": {"--comment --segue-chain job.sh", script(), nil},
		"every term": {
			"job.sh", script("#SEGUE --chain --links 40 --for 1w2d --done-file 'run 1/done' --done-code 0,3",
				"#SEGUE --prefer 2.5 --min-lead 30m --max-lead 12:00:00 --startup 90s",
				"#SEGUE --fast-fail 5m --max-fast-fails 4 --max-gpu-hours 1e4 --stop-predecessor"),
			&segue.Terms{
				MaxLinks: 40, MaxTime: 9 * 24 * time.Hour, DoneFile: "run 1/done", DoneCodes: []int{0, 3}, Prefer: 2.5,
				MinLead: 30 * time.Minute, MaxLead: 12 * time.Hour, Startup: 90 * time.Second,
				FastFail: 5 * time.Minute, MaxFastFails: 4, MaxGPUHours: 1e4, StopPredecessor: true,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, err := sbatch.Read(sbatch.Input{Args: strings.Fields(c.args), Script: c.script})
			if err != nil {
				t.Fatal(err)
			}
			if job.Chain != (c.want != nil) {
				t.Fatalf("a chain: %v", job.Chain)
			}
			if c.want != nil {
				if diff := cmp.Diff(*c.want, job.Terms); diff != "" {
					t.Errorf("terms (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestWrongTermsAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	const all = "--chain, --links, --for, --done-file, --done-code, --prefer, --min-lead, --max-lead, --startup, --fast-fail, " +
		"--max-fast-fails, --max-gpu-hours, --stop-predecessor"
	for name, c := range map[string]struct {
		args   string
		script []byte
		want   string
	}{
		"an unknown one":          {"job.sh", script("#SBATCH -N2", "#SEGUE --chian"), "line 3: #SEGUE --chian: want one of " + all},
		"a shortened one":         {"job.sh", script("#SEGUE --link=3"), "line 2: #SEGUE --link=3: want one of " + all},
		"a word":                  {"job.sh", script("#SEGUE chain"), "line 2: #SEGUE chain: want one of " + all},
		"an unknown one, typed":   {"--segue-chian job.sh", nil, "--segue-chian: want one of " + strings.ReplaceAll(all, "--", "--segue-")},
		"a missing value":         {"job.sh", script("#SEGUE --chain --links"), "line 2: #SEGUE --links: its value is missing"},
		"a value too many":        {"--segue-stop-predecessor=5 job.sh", nil, "--segue-stop-predecessor=5: it takes no value"},
		"an open quotation mark":  {"job.sh", script(`#SEGUE --done-file "a`), "line 2: a quotation mark is not closed (#SEGUE)"},
		"no number":               {"job.sh", script("#SEGUE --chain --links many"), `line 2: #SEGUE --links: "many": want a number of 1 or more`},
		"none at all":             {"--segue-links=0 job.sh", nil, `--segue-links: "0": want a number of 1 or more`},
		"a time without a unit":   {"job.sh", script("#SEGUE --for 30"), `line 2: #SEGUE --for: "30": want a time with units, such as 30d, 1d12h, 90m or 48:00:00`},
		"minutes or hours":        {"--segue-for=4:00 job.sh", nil, `--segue-for: "4:00": want a time with units, such as 30d, 1d12h, 90m or 48:00:00`},
		"a unit twice":            {"--segue-for=1d1d job.sh", nil, `--segue-for: "1d1d": want a time with units, such as 30d, 1d12h, 90m or 48:00:00`},
		"an endless time":         {"--segue-for=999999999w job.sh", nil, `--segue-for: "999999999w": want a time with units, such as 30d, 1d12h, 90m or 48:00:00`},
		"a code that is none":     {"--segue-done-code=0,256 job.sh", nil, `--segue-done-code: "0,256": want exit codes from 0 to 255, separated by commas`},
		"a preference":            {"--segue-prefer=fast job.sh", nil, `--segue-prefer: preference "fast": want no-gap, balanced, no-waste or a number from 0.001 to 1000 (hours of overlap worth one hour of interruption)`},
		"terms without a chain":   {"job.sh", script("#SEGUE --links 3"), "--links without --chain: only a chain has terms"},
		"a lead that is too long": {"job.sh", script("#SEGUE --chain --min-lead 2h --max-lead 1h"), "terms of the chain: the least lead 2h0m0s is more than the longest 1h0m0s"},
		"perhaps a chain":         {"--segue-chain=maybe job.sh", nil, `--segue-chain: "maybe": want nothing, =yes or =no`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sbatch.Read(sbatch.Input{Args: strings.Fields(c.args), Script: c.script})
			if segue.KindOf(err) != segue.Invalid || err.Error() != c.want {
				t.Errorf("error %v (%s)\nwant  %s", err, segue.KindOf(err), c.want)
			}
		})
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"--chain --links 3", "--chain --for 1d12h", "--chain --for 1-2:3:4", "--chain --done-code 0,1 --prefer 3", "--chain --max-gpu-hours NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		job, err := sbatch.Read(sbatch.Input{Script: script("#SEGUE " + line)})
		switch {
		case err != nil && segue.KindOf(err) != segue.Invalid:
			t.Fatalf("%q: %v is %s", line, err, segue.KindOf(err))
		case err == nil && job.Chain:
			if err := job.Terms.WithDefaults().Validate(); err != nil {
				t.Fatalf("%q is taken, and yet: %v", line, err)
			}
		}
	})
}
