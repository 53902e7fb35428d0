package segue_test

import (
	"math"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

func TestStatesOfChainsAndLinksReadBack(t *testing.T) {
	t.Parallel()
	for s := segue.ChainActive; s <= segue.ChainFailed; s++ {
		if got, err := segue.ParseChainState(s.String()); err != nil || got != s {
			t.Errorf("%s reads back as %s, %v", s, got, err)
		}
	}
	for s := segue.LinkSubmitting; s <= segue.LinkLost; s++ {
		if got, err := segue.ParseLinkState(s.String()); err != nil || got != s {
			t.Errorf("%s reads back as %s, %v", s, got, err)
		}
	}
	if _, err := segue.ParseChainState("Active"); segue.KindOf(err) != segue.Corrupt {
		t.Errorf("error %v of an unknown state, want one of kind corrupt", err)
	}
}

func TestFinalStatesStay(t *testing.T) {
	t.Parallel()
	for from := segue.ChainActive; from <= segue.ChainFailed; from++ {
		for to := segue.ChainActive; to <= segue.ChainFailed; to++ {
			want := from != to && (from == segue.ChainActive || from == segue.ChainPaused)
			if got := from.MayBecome(to); got != want {
				t.Errorf("a chain that is %s may become %s: %t, want %t", from, to, got, want)
			}
		}
	}
	allowed := map[[2]segue.LinkState]bool{
		{segue.LinkSubmitting, segue.LinkQueued}: true, {segue.LinkSubmitting, segue.LinkRunning}: true,
		{segue.LinkSubmitting, segue.LinkEnded}: true, {segue.LinkSubmitting, segue.LinkLost}: true,
		{segue.LinkQueued, segue.LinkRunning}: true, {segue.LinkQueued, segue.LinkEnded}: true,
		{segue.LinkQueued, segue.LinkLost}:    true,
		{segue.LinkRunning, segue.LinkQueued}: true, {segue.LinkRunning, segue.LinkEnded}: true,
	}
	for from := segue.LinkSubmitting; from <= segue.LinkLost; from++ {
		for to := segue.LinkSubmitting; to <= segue.LinkLost; to++ {
			if got := from.MayBecome(to); got != allowed[[2]segue.LinkState{from, to}] {
				t.Errorf("a link that is %s may become %s: %t", from, to, got)
			}
		}
	}
}

func TestTokensAreFoundInComments(t *testing.T) {
	t.Parallel()
	link := segue.Link{Chain: "k3v9q2", Number: 12, Attempt: 2}
	for name, comment := range map[string]string{
		"alone": link.Token(), "after a user's comment": "my run; " + link.Token(), "before one": link.Token() + " my run",
	} {
		token, chain, number, attempt, ok := segue.FindToken(comment)
		if !ok || token != link.Token() || chain != "k3v9q2" || number != 12 || attempt != 2 {
			t.Errorf("%s: found %q of link %d.%d of chain %q, %t", name, token, number, attempt, chain, ok)
		}
	}
	for _, comment := range []string{"", "segue", "segue:/1.1", "segue:K3/1.1", "segue:k3/1", "segue:k3/12345678901.1"} {
		if token, _, _, _, ok := segue.FindToken(comment); ok {
			t.Errorf("found %q in %q", token, comment)
		}
	}
}

func TestTermsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	if err := (segue.Terms{}).WithDefaults().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for name, terms := range map[string]segue.Terms{
		"negative links":       {MaxLinks: -1},
		"negative time":        {MaxTime: -1},
		"negative start-up":    {Startup: -1},
		"leads the wrong way":  {MinLead: 2 * time.Hour, MaxLead: time.Hour},
		"a price of nothing":   {Prefer: 1e-9},
		"negative fast fails":  {MaxFastFails: -1},
		"GPU-hours of NaN":     {MaxGPUHours: math.NaN()},
		"negative least lead":  {MinLead: -1},
		"negative longest one": {MaxLead: -1},
		"a file in Latin 1":    {DoneFile: "/d\xfcne"},
		"a folder in Latin 1":  {ReadyDir: "/home/j\xfcrgen/ready"},
	} {
		if err := terms.Validate(); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", name, err)
		}
	}
}
