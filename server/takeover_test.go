package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// Two server processes on one PostgreSQL keep a chain going, of which each link
// lasts three seconds. The one that leads is killed, and the other goes on; a third
// comes, the second is told to end, and the third goes on. Each link is submitted
// once.
func TestAnotherServerTakesOver(t *testing.T) {
	t.Parallel()
	if !pgtest.Have(t) {
		return
	}
	if err := postgres.Start(); err != nil {
		t.Fatal(err)
	}
	r := newReplicas(t, postgres.URL(postgres.Clone(t, "")))
	const links = 7
	r.begin("k3v9q2", links)
	one, two := r.start(), r.start()
	r.until("one of two leads", func() bool { return one.leads() != two.leads() })
	if two.leads() {
		one, two = two, one
	}
	r.until("the second link", func() bool { return len(r.links("k3v9q2")) >= 2 })
	if err := one.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	r.until("the other leads", two.leads)
	t.Logf("another leads after %s, with a round every %s", time.Since(killed).Round(time.Millisecond), childEvery)
	n := len(r.links("k3v9q2"))
	r.until("another link", func() bool { return len(r.links("k3v9q2")) > n })
	three := r.start()
	r.until("the third answers", func() bool { return three.chains() == 1 && !three.leads() })
	if err := two.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := two.process.Wait(); err != nil {
		t.Errorf("a server that is told to end: %v", err)
	}
	r.until("the third leads", three.leads)
	r.until("the chain is done", func() bool {
		c, err := r.store.Chain(t.Context(), "k3v9q2")
		if err != nil {
			t.Fatal(err)
		}
		return c.State == segue.ChainDone
	})
	var want []string
	for i := range links {
		want = append(want, fmt.Sprintf("segue:k3v9q2/%d.1", i+1))
	}
	got, err := r.cluster.tokens()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("submissions (-want +got): %v\n%s", err, diff)
	}
}

// replicas are servers on one store and one cluster.
type replicas struct {
	t        *testing.T
	database string
	store    *store.Store
	cluster  fileCluster
	secret   string
}

func newReplicas(t *testing.T, database string) *replicas {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	_, secret, err := CreateToken(t.Context(), s, Grant{User: "olga", Scopes: []api.Scope{api.ScopeOperator}}, "olga", realNow())
	if err != nil {
		t.Fatal(err)
	}
	return &replicas{t: t, database: database, store: s, cluster: fileCluster{t.TempDir(), realNow}, secret: secret}
}

// begin submits the first link of a chain.
func (r *replicas) begin(id string, links int) {
	r.t.Helper()
	request := segue.Request{Shape: segue.Shape{Nodes: 1, Limit: 3 * time.Second}, User: "ada"}
	chain := segue.Chain{ID: id, Name: "train", User: "ada", Created: realNow(), Request: request, Terms: segue.Terms{MaxLinks: links}.WithDefaults()}
	link := segue.Link{
		Chain: id, Number: 1, Attempt: 1, Planned: realNow(), Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	if err := r.store.CreateChain(r.t.Context(), chain, link); err != nil {
		r.t.Fatal(err)
	}
	got, err := r.cluster.Submit(r.t.Context(), schedulers.Submission{Request: request, Token: link.Token()})
	if err != nil {
		r.t.Fatal(err)
	}
	link.State, link.Job, link.Submitted = segue.LinkQueued, got.Job, realNow()
	if err := r.store.UpdateLink(r.t.Context(), segue.LinkSubmitting, link); err != nil {
		r.t.Fatal(err)
	}
}

func (r *replicas) links(chain string) []segue.Link {
	r.t.Helper()
	links, err := r.store.Links(r.t.Context(), chain)
	if err != nil {
		r.t.Fatal(err)
	}
	return links
}

// until waits until something is so.
func (r *replicas) until(what string, so func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			r.t.Fatalf("it does not come to this: %s", what)
		case <-again.C:
		}
	}
}

// replica is a server process.
type replica struct {
	process *exec.Cmd
	address string
	secret  string
	t       testing.TB
}

func (r *replicas) start() *replica {
	r.t.Helper()
	return startChild(r.t, r.secret, childDatabase+"="+r.database, childCluster+"="+r.cluster.dir)
}

// startChild starts a server process with variables of its environment.
func startChild(t testing.TB, secret string, environment ...string) *replica {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not say where it answers: %v", err)
	}
	return &replica{process: cmd, address: strings.TrimSpace(line), secret: secret, t: t}
}

// get returns what the server answers.
func (p *replica) get(path string) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "" // it is killed
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		p.t.Errorf("GET %s: %d %v %s", path, answer.StatusCode, err, text)
	}
	return string(text)
}

func (p *replica) leads() bool { return strings.Contains(p.get("/metrics"), "\nsegue_lease_held 1\n") }

// chains returns how many chains the server shows.
func (p *replica) chains() int { return strings.Count(p.get("/v1/chains"), `"id"`) }

// However often a server looks, no two confirmations that a job is gone come from
// one look at the queue, which may be from before the job was submitted.
func TestEveryConfirmationHasALookOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Millisecond, time.Second, 3 * time.Second, time.Minute} {
		cfg := patienceOf(Config{Every: every})
		if cfg.Fresh <= 0 || cfg.Fresh > 10*time.Second || cfg.Pause < cfg.Fresh {
			t.Errorf("a round every %s: a look serves for %s, and confirmations are %s apart; want them no closer", every, cfg.Fresh, cfg.Pause)
		}
	}
}
