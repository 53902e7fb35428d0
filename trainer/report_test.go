package trainer

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/policy"
)

func TestReportPageIsWellFormedAndTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][]string{
		"all policies":               nil,
		"no planner":                 {"reactive"},
		"a planner that looks once":  {"average"},
		"a planner without a number": {"reactive", "recent-shape-quantile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quickly(busyReplay(1, 30))
			if names != nil {
				cfg.Families = families(t, names...)
			}
			result := run(t, cfg)
			page, err := ReportPage(t.Context(), cfg, result, "segue backtest --report <out.html>")
			if err != nil {
				t.Fatal(err)
			}
			again, err := ReportPage(t.Context(), cfg, result, "segue backtest --report <out.html>")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(page, again) {
				t.Error("the second page differs from the first")
			}
			text := string(page)
			for _, want := range []string{
				"When to submit the next link: 2 nodes x 12h0m0s", "segue backtest --report &lt;out.html&gt;",
				"replayed on 8 nodes with easy backfill; a start every 12 h.", "A chain of 4 links under reactive",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
			for _, nonsense := range []string{"NaN", "%!", "+Inf"} {
				if strings.Contains(text, nonsense) {
					t.Errorf("the page says %q", nonsense)
				}
			}
			wellFormed(t, page)
		})
	}
}

// wellFormed wants every element of a page closed.
func wellFormed(t *testing.T, page []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
	}
}

func TestReportPageStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	cfg := quickly(busyReplay(1, 30))
	cfg.Families = families(t, "forward-limits-scaled")
	result := run(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReportPage(ctx, cfg, result, "segue"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}

func TestTypicalStartsAreTheMediansOfTheirLoads(t *testing.T) {
	t.Parallel()
	var episodes []Episode
	for i, reactive := range []float64{30, 1, 5, 0, 2, 40, 20, 3, 12} {
		episodes = append(episodes, episodeOf(midnight(1+i), []float64{reactive}, nil))
	}
	var got []float64
	for _, e := range typicalStarts(episodes) {
		got = append(got, e.Curve.Reactive().Hours())
	}
	want := []float64{1, 5, 30} // of 0, 1, 2 and of 3, 5, 12 and of 20, 30, 40
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("reactive waits of the typical starts are %v, want %v", got, want)
	}
	if got := typicalStarts(nil); len(got) != 0 {
		t.Errorf("of no episodes %d are typical", len(got))
	}
}

// A rule that looks once per link keeps to what it saw then.
func TestChainUnderARuleThatLooksOnce(t *testing.T) {
	t.Parallel()
	setup := setupOf(busyReplay(4, 20)).withDefaults()
	rule := policy.Rule{Name: "average", Forecaster: "recent", Form: policy.Scale, Param: 1}
	differ := 0
	for d := 5; d < 15; d++ {
		cluster, history := watched(t, setup, midnight(d))
		leads := [2]time.Duration{}
		for i, once := range []bool{true, false} {
			rule.AtStart = once
			links, err := setup.follow(cluster, history.Fork(), rule, hour, nil)
			if err != nil {
				t.Fatal(err)
			}
			leads[i] = links[0].End.Sub(links[1].Submit)
		}
		if leads[0] != leads[1] {
			differ++
		}
	}
	if differ == 0 {
		t.Error("all ten chains are the same whether the rule looks once per link or always")
	}
}
