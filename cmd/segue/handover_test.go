package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api/client"
)

func TestAChainThatWaitsForAServerIsNobodyElses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		// Where it is after the server was asked, and then the user's own store.
		atServer, atStore int
		aside             bool
	}{
		"the server takes it":            {nil, 1, 0, true},
		"the server does not answer":     {segue.Errorf(segue.Unavailable, "nobody answers"), 1, 0, false},
		"the server knows nobody":        {segue.Errorf(segue.Other, "the token expired"), 1, 0, false},
		"the server will never take it":  {fmt.Errorf("%w: no", errRefused), 1, 1, false},
		"it is for the server of others": {nil, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			local, here := spool{dir: dir}, spool{dir: dir, server: "unix:///here"}
			meant := here
			if c.atServer == 0 {
				meant.server = "unix:///there"
			}
			chain := aChain(segue.LinkQueued)
			if err := meant.Record(chain.Chain, chain.Link); err != nil {
				t.Fatal(err)
			}
			server, store := took{err: c.answer}, took{}
			for range 2 {
				if err := here.HandOver(&server, 0); (err == nil) != (c.answer == nil || len(store.chains) > 0) {
					t.Errorf("the server is asked: %v", err)
				}
				if err := local.HandOver(&store, 0); err != nil {
					t.Fatal(err)
				}
			}
			if got := min(1, len(server.chains)); got != c.atServer || len(store.chains) != c.atStore {
				t.Errorf("offered %d times to the server and %d times to the store, want %d and %d", got, len(store.chains), c.atServer, c.atStore)
			}
			kept, err := here.handedOver(chain.Chain.ID)
			if (err == nil) != c.aside {
				t.Errorf("what the server has taken: %v", err)
			}
			if diff := cmp.Diff(chain.Chain, kept); c.aside && diff != "" {
				t.Errorf("what the server has taken (-captured +kept):\n%s", diff)
			}
		})
	}
}

// Whoever asks one server is told of what waits for another: nothing brings it there.
func TestChainsThatWaitForAnotherServerAreTold(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	chain := aChain(segue.LinkQueued)
	if err := (spool{dir: stateDir(), server: "unix:///there"}).Record(chain.Chain, chain.Link); err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"": "segue: the server unix:///there has not", "unix:///here": "segue: the server unix:///there has not", "unix:///there": "",
	} {
		var out strings.Builder
		tellWaiting(&out, asked)
		if !strings.HasPrefix(out.String(), want) || want == "" && out.Len() > 0 {
			t.Errorf("who asks %q is told %q, want %q", asked, out.String(), want)
		}
	}
}

// someone is a user of the machine who runs segue.
type someone struct {
	*service
	home string
	who  *syscall.Credential
	env  []string
}

// someone returns a user with a home that nobody else may look into.
func (s *service) someone(name, server string) someone {
	s.t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		s.t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	home := filepath.Join(s.dir, "home-"+name)
	if err := os.Mkdir(home, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chown(home, uid, gid); err != nil {
		s.t.Fatal(err)
	}
	return someone{
		service: s, home: home, who: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)},
		env: []string{"HOME=" + home, "USER=" + name, "PATH=" + s.slurm.bin() + ":" + os.Getenv("PATH"), serverVariable + "=" + server},
	}
}

// runs runs segue and returns what it printed; it must end well.
func (u someone) runs(args ...string) (stdout, stderr string) {
	u.t.Helper()
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(u.t.Context(), u.program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = u.env, u.home, &out, &complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.who}
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("segue %q: %v: %s%s", args, err, &out, &complaint)
	}
	return out.String(), complaint.String()
}

// copies leaves chains under the IDs of those that another user has waiting for the
// server, of a job that is none, to be handed over.
func (u someone) copies(other someone) {
	u.t.Helper()
	folder := filepath.Join(".local", "state", "segue")
	waiting, err := filepath.Glob(filepath.Join(other.home, folder, "for-server", "*"+spoolSuffix))
	if err != nil || len(waiting) == 0 {
		u.t.Fatalf("%d chains of the other user wait: %v", len(waiting), err)
	}
	for _, path := range waiting {
		c, err := readSpooled(path)
		if err != nil {
			u.t.Fatal(err)
		}
		c.Link.Job.Number = 998
		if err := (spool{dir: filepath.Join(u.home, folder), server: c.Server}).Record(c.Chain, c.Link); err != nil {
			u.t.Fatal(err)
		}
	}
	err = filepath.WalkDir(u.home, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, int(u.who.Uid), int(u.who.Gid)))
	})
	if err != nil {
		u.t.Fatal(err)
	}
}

// owners returns who has submitted the jobs, by their tokens' links.
func (f fakeSlurm) owners(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, words := range f.all(t) {
		_, link, _ := strings.Cut(words[1], "/")
		all = append(all, link+" "+words[2])
	}
	slices.Sort(all)
	return all
}

// opened lets all users go through a folder of a test's.
func opened(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// A user without any password of a database submits a chain, and a server of root keeps
// it going as that user.
func TestAUsersChainComesToAServerOfRoot(t *testing.T) {
	t.Parallel()
	if testing.Short() || os.Getuid() != 0 {
		t.Log("it takes half a minute, and root")
		return
	}
	s := &service{t: t, program: buildSegue(t), dir: t.TempDir(), slurm: newFakeSlurm(t, 2*time.Second), client: http.Client{Timeout: 20 * time.Second}}
	for _, dir := range []string{filepath.Dir(s.program), s.dir, s.slurm.bin()} {
		opened(t, dir)
	}
	if err := os.Chmod(s.slurm.jobs(), 0o777); err != nil {
		t.Fatal(err)
	}
	s.variables = []string{"HOME=" + s.dir, "XDG_STATE_HOME=" + s.dir, "PATH=" + s.slurm.bin() + ":" + os.Getenv("PATH")}
	socket := filepath.Join(s.dir, "segue.sock")
	address := freeAddress(t)
	start := func() *running { return s.start("data", address, "--every", "1s", "--socket", socket) }
	ada, ben, root := s.someone("nobody", "unix://"+socket), s.someone("daemon", "unix://"+socket), s.someone("root", "unix://"+socket)
	r := start()

	out, complaint := ada.runs("sbatch", "-J", "train", "--time=1", "--segue-chain", "--segue-done-file=done", "--wrap=true")
	if out != "Submitted batch job 1\n" || complaint != "" {
		t.Fatalf("segue sbatch says %q and %q", out, complaint)
	}
	s.until("the second link is submitted as ada", func() bool { return slices.Contains(s.slurm.owners(t), "2.1 nobody") })
	if out, _ := ada.runs("status"); !strings.Contains(out, "train") || !strings.Contains(out, "active") {
		t.Errorf("ada sees\n%s", out)
	}
	if out, _ := ben.runs("status", "--all"); strings.Contains(out, "train") {
		t.Errorf("ben sees\n%s", out)
	}
	ada.runs("why", "train")
	if out, _ := ada.runs("logs", "train"); !strings.Contains(out, filepath.Join(ada.home, "slurm-1.out")) {
		t.Errorf("the links write\n%s", out)
	}
	// In a folder into which only ada may look.
	if err := os.WriteFile(filepath.Join(ada.home, "done"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.until("the work is done", func() bool { out, _ := ada.runs("status", "--all"); return strings.Contains(out, "done") })

	r.kill()
	out, complaint = ada.runs("sbatch", "-J", "later", "--segue-chain", "--wrap=true")
	if !strings.HasPrefix(out, "Submitted batch job ") || !strings.Contains(complaint, "the chain waits for the server") {
		t.Fatalf("without a server segue sbatch says %q and %q", out, complaint)
	}
	if _, complaint := ada.runs("status", "--store", filepath.Join(ada.home, "own.db")); !strings.Contains(complaint, "has not taken all chains yet (1)") {
		t.Errorf("of a chain that waits segue says %q", complaint)
	}
	start()
	ben.copies(ada)
	if _, complaint := ben.runs("status"); !strings.Contains(complaint, "another user's, carries the token of chain") {
		t.Errorf("who hands over another user's chain is told %q", complaint)
	}
	if out, complaint := ada.runs("status"); !strings.Contains(out, "later") || complaint != "" {
		t.Errorf("when the server is back ada sees\n%s%s", out, complaint)
	}
	if out, _ := ada.runs("pause", "later"); !strings.Contains(out, "is paused") {
		t.Errorf("segue pause says %q", out)
	}
	if out, _ := ada.runs("resume", "later"); !strings.Contains(out, "is active") {
		t.Errorf("segue resume says %q", out)
	}
	if out, _ := ada.runs("stop", "later"); !strings.Contains(out, "is stopped") {
		t.Errorf("segue stop says %q", out)
	}

	_, complaint = root.runs("sbatch", "-J", "roots", "--time=1", "--segue-chain", "--wrap=true")
	if !strings.Contains(complaint, "chains of root are not taken over") || !strings.Contains(complaint, "`segue agent` keeps it going") {
		t.Errorf("root is told %q", complaint)
	}
	if out, _ := root.runs("status", "--store", filepath.Join(root.home, "own.db")); !strings.Contains(out, "roots") {
		t.Errorf("root's own store has\n%s", out)
	}
	tokens := s.slurm.tokens(t)
	if unique := slices.Compact(slices.Clone(tokens)); len(unique) != len(tokens) {
		t.Errorf("jobs of one link: %q", tokens)
	}
	for _, owner := range s.slurm.owners(t) {
		if strings.HasSuffix(owner, " root") && !strings.HasPrefix(owner, "1.1 ") {
			t.Errorf("a link was submitted as root: %v", s.slurm.owners(t))
		}
	}
}

// newCarrier is one to a server.
func newCarrier(t *testing.T, server string) *carrier {
	t.Helper()
	c, err := client.New(client.Config{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	return &carrier{client: c}
}

// answersTo is a server that answers to a chain that is handed over, and to the question
// whether it has it, with a status each.
func answersTo(t *testing.T, chain segue.Chain, put, known int) (address string) {
	t.Helper()
	types := map[int]string{401: "unauthorized", 403: "forbidden", 404: "not-found", 405: "method-not-allowed", 409: "conflict", 413: "too-large", 422: "invalid", 500: "internal", 503: "unavailable"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := put
		if r.Method == http.MethodGet {
			status = known
		}
		w.WriteHeader(status)
		if status < 400 {
			fmt.Fprintf(w, `{"id":%q,"created":%q}`, chain.ID, chain.Created)
			return
		}
		fmt.Fprintf(w, `{"type":"urn:segue:problem:%s","title":"No","status":%d}`, types[status], status)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Whether a chain is with its server, is refused or is left open is the difference
// between one that goes on, one that does not, and two of them.
func TestWhatAServerSaysOfAChain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		put     int // status of the answer to the chain
		known   int // and of the one whether it has it
		refused bool
		fails   bool
	}{
		"it takes it":                      {201, 404, false, false},
		"it has it already":                {200, 200, false, false},
		"it makes no sense to it":          {422, 404, true, true},
		"it is too large":                  {413, 404, true, true},
		"it is a server of before":         {405, 404, true, true},
		"another one was faster":           {409, 200, false, false},
		"the ID is another user's":         {409, 404, true, true},
		"nobody can say whether it has it": {422, 503, false, true},
		"the token is of no use":           {401, 401, false, true},
		"the token may not":                {403, 404, false, true},
		"its store is away":                {503, 503, false, true},
		"it fails":                         {500, 404, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := aChain(segue.LinkQueued)
			err := newCarrier(t, answersTo(t, chain.Chain, tt.put, tt.known)).Record(chain.Chain, chain.Link)
			if errors.Is(err, errRefused) != tt.refused || (err != nil) != tt.fails {
				t.Errorf("error is %v, want refused %t, an error %t", err, tt.refused, tt.fails)
			}
		})
	}
}

// A chain whose done file the server would look for under another name stays here.
func TestAPathThatIsNoTextIsNotHandedOver(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			t.Error("the server is handed a chain")
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"type":"urn:segue:problem:not-found","title":"No","status":404}`)
	}))
	defer s.Close()
	c, err := client.New(client.Config{Server: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	chain := aChain(segue.LinkQueued)
	chain.Chain.Terms.DoneFile = "/d\xfcne"
	if err := (carrier{client: c}).Record(chain.Chain, chain.Link); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("error is %v, want one that it is refused", err)
	}
}
