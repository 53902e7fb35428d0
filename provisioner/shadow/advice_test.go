package shadow_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner/shadow"
)

// Whoever writes all advice down and follows what was written comes to what whoever
// asks comes to.
func TestAdviceThatWasWrittenDownLeadsToTheSame(t *testing.T) {
	t.Parallel()
	followed := 0
	rapid.Check(t, func(r *rapid.T) {
		history := drawHistory(r)
		cfg := config(t, history, 3)
		cfg.Every = 2 * hour
		var file bytes.Buffer
		cfg.Advised = func(h shadow.Handover, d segue.Decision) {
			job := segue.QueuedJob{ID: history[h.Before].ID, Request: d.Request}
			line, err := json.Marshal(shadow.NewAdvice(job, history[h.Before].Name, d))
			if err != nil {
				r.Fatal(err)
			}
			file.Write(append(line, '\n'))
		}
		asked := judged(r, cfg)
		var err error
		if cfg.Advice, _, err = shadow.ReadAdvice(&file); err != nil {
			r.Fatal(err)
		}
		if cfg.Advice == nil {
			return
		}
		cfg.Advised = nil
		written := judged(r, cfg)
		if n := len(written.Judged) + written.Found.Unadvised; n != len(asked.Judged) {
			r.Fatalf("%d hand-overs are told of, want %d", n, len(asked.Judged))
		}
		for i := range written.Judged {
			got := &written.Judged[i]
			for k := range asked.Judged {
				if want := &asked.Judged[k]; want.Handover == got.Handover {
					followed++
					if got.Submit != want.Submit || got.Start != want.Start || got.Asked != want.Asked {
						r.Fatalf("written down it comes to %v and %v after %d, asked to %v and %v after %d",
							got.Submit, got.Start, got.Asked, want.Submit, want.Start, want.Asked)
					}
				}
			}
		}
	})
	if followed == 0 {
		t.Error("no advice was followed")
	}
}

// Advice that said when to submit if nobody asked again counts when nobody did: the
// watch was ended.
func TestAdviceHoldsWhenNobodyAsksAgain(t *testing.T) {
	t.Parallel()
	history := busy()
	cfg := config(t, history, 1)
	advice := func(at, submitAt time.Duration) shadow.Advice {
		return shadow.Advice{At: monday.Add(at).Std(), Job: "1", SubmitAt: monday.Add(submitAt).Std(), Submit: at == submitAt, Reason: "Said so."}
	}
	for name, tt := range map[string]struct {
		advice []shadow.Advice
		want   time.Duration
	}{
		"nobody asked again":                    {[]shadow.Advice{advice(2*hour, 10*hour)}, 10 * hour},
		"somebody did in time":                  {[]shadow.Advice{advice(2*hour, 10*hour), advice(8*hour, 20*hour)}, 20 * hour},
		"somebody did, but too late":            {[]shadow.Advice{advice(2*hour, 10*hour), advice(12*hour, 20*hour)}, 10 * hour},
		"in whatever order it is":               {[]shadow.Advice{advice(8*hour, 20*hour), advice(2*hour, 10*hour)}, 20 * hour},
		"it was seconds before the end":         {[]shadow.Advice{advice(24*hour-30*time.Second, 24*hour-20*time.Second)}, 24 * hour},
		"it said so at once":                    {[]shadow.Advice{advice(2*hour, 2*hour), advice(8*hour, 20*hour)}, 2 * hour},
		"it would be beyond the end":            {[]shadow.Advice{advice(2*hour, 30*hour)}, 24 * hour},
		"what comes after the end is not asked": {[]shadow.Advice{advice(2*hour, 20*hour), advice(25*hour, 25*hour)}, 20 * hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := cfg
			cfg.Advice = tt.advice
			j := judged(t, cfg).Judged[0]
			if got := j.Submit[shadow.Segue]; got != at(tt.want) {
				t.Errorf("submitted at %s, want %s", got, at(tt.want))
			}
			if reason := j.Decision != nil; reason != (tt.want < 24*hour) {
				t.Errorf("there is a decision: %t", reason)
			}
		})
	}
}

func TestLinesThatCannotBeReadLoseNoOthers(t *testing.T) {
	t.Parallel()
	line := `{"at":"2023-02-06T21:00:00Z","job":"1","submit":true,"submit_at":"2023-02-06T21:00:00Z"}` + "\n"
	for name, text := range map[string]string{
		"half a line":           line[:20],
		"no JSON":               "x\n",
		"no job":                `{"at":"2023-02-06T21:00:00Z","submit_at":"2023-02-06T21:00:00Z"}` + "\n",
		"no instant":            `{"job":"1","submit_at":"2023-02-06T21:00:00Z"}` + "\n",
		"a submission before":   `{"job":"1","at":"2023-02-06T21:00:00Z","submit_at":"2023-02-06T20:00:00Z"}` + "\n",
		"a number for a string": `{"job":1}` + "\n",
	} {
		list, unreadable, err := shadow.ReadAdvice(strings.NewReader(line + text + "\n" + line))
		if len(list) != 2 || unreadable != 1 || segue.KindOf(err) != segue.Corrupt || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %d lines, %d unreadable, %v; want 2, 1 and a corrupt line 2", name, len(list), unreadable, err)
		}
	}
	if list, unreadable, err := shadow.ReadAdvice(strings.NewReader(line + "\n" + line[:len(line)-1])); len(list) != 2 || unreadable != 0 || err != nil {
		t.Errorf("%d lines, %d unreadable, %v; want 2 and no complaint", len(list), unreadable, err)
	}
}

func FuzzReadAdvice(f *testing.F) {
	f.Add(`{"at":"2023-02-06T21:00:00Z","job":"1","submit":true,"submit_at":"2023-02-06T21:00:00Z"}` + "\n")
	f.Add("{}\n\n{\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, unreadable, err := shadow.ReadAdvice(strings.NewReader(text))
		if (err != nil) != (unreadable > 0) {
			t.Errorf("%d lines cannot be read, and the first complaint is %v", unreadable, err)
		}
		for _, a := range list {
			if _, err := segue.ParseJobID(a.Job); err != nil || a.SubmitAt.Before(a.At) {
				t.Errorf("%+v was read", a)
			}
		}
	})
}
