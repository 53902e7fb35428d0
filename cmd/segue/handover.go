package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// The environment names the server that keeps a user's chains going, as the flags
// --server and --token-file do.
const (
	serverVariable = "SEGUE_SERVER"
	tokenVariable  = "SEGUE_TOKEN_FILE"
)

// errRefused is wrapped by the error of a server that does not take a chain, and will
// not.
var errRefused = errors.New("the server does not take the chain")

// keptHere says what is to be done about a chain that the server refuses.
const keptHere = "`segue agent` keeps it going, `" + serverVariable + "= segue status` shows it"

// carrier is a Recorder that hands chains over to a server.
type carrier struct {
	client *client.Client
	again  int // how often it is tried again, a second later, while the server does not answer
}

// answered is how long a server may take to answer: somebody waits for it.
const answered = 10 * time.Second

// Record implements Recorder. An error that does not wrap errRefused leaves open
// whether the server has the chain.
func (c carrier) Record(chain segue.Chain, first segue.Link) error {
	ctx, cancel := context.WithTimeout(context.Background(), answered)
	defer cancel()
	for again := 0; ; again++ {
		err := c.client.HandOver(ctx, chain, first)
		switch {
		case refused(err):
			if has, err := c.has(ctx, chain); has || err != nil {
				return err
			}
			return fmt.Errorf("%w: %w", errRefused, err)
		case segue.KindOf(err) != segue.Unavailable, again >= c.again, schedulers.Sleep(ctx, time.Second) != nil:
			return err
		}
	}
}

// has reports whether the server has a chain all the same: somebody else may have handed
// the same one over at the same time.
func (c carrier) has(ctx context.Context, chain segue.Chain) (bool, error) {
	known, err := c.client.Chain(ctx, chain.ID)
	if segue.KindOf(err) == segue.NotFound {
		return false, nil
	}
	return err == nil && known.Created == chain.Created.String(), err
}

// refused reports whether an error is the server's word on a chain, which it does not
// have. One about who asks is not: another token may do. A server of before takes none.
func refused(err error) bool {
	if p, ok := errors.AsType[*api.Problem](err); ok && (p.Status == http.StatusRequestEntityTooLarge || p.Status == http.StatusMethodNotAllowed) {
		return true
	}
	kind := segue.KindOf(err)
	return kind == segue.Invalid || kind == segue.NotFound || kind == segue.Conflict
}

// servedSpool returns the spool of what is meant for the server of the environment,
// and what brings it there, nil without one.
func servedSpool() (s spool, to *carrier, err error) {
	s = spool{dir: stateDir(), server: os.Getenv(serverVariable)}
	if s.server == "" {
		return s, nil, nil
	}
	c, err := (&serverFlags{server: s.server, tokenFile: os.Getenv(tokenVariable)}).client()
	if err != nil {
		return s, nil, fmt.Errorf("%s: %w", serverVariable, err)
	}
	return s, &carrier{client: c}, nil
}

// bringToServer hands over what waits for the server of the environment, unless another
// process is about it.
func bringToServer() error {
	s, to, err := servedSpool()
	if err != nil || to == nil {
		return err
	}
	done, alone := s.alone()
	if !alone {
		return nil
	}
	defer done()
	return s.HandOver(to, segue.TimeOf(time.Now()))
}

// tellWaiting says which chains wait for a server that nobody has asked now, which asked
// is not: no other keeps them going.
func tellWaiting(out io.Writer, asked string) {
	waiting := spool{dir: stateDir()}.waiting()
	delete(waiting, asked)
	for _, server := range slices.Sorted(maps.Keys(waiting)) {
		fmt.Fprintf(out, "segue: the server %s has not taken all chains yet (%d): `%s=%s segue status` brings them there\n",
			server, waiting[server], serverVariable, server)
	}
}

// fromEnvironment lets the environment name the server where neither it nor a store
// was named, and reports whether one is to be asked.
func (f *serverFlags) fromEnvironment(where *chainStore) bool {
	if f.server == "" && where.where == "" {
		f.server = os.Getenv(serverVariable)
		f.tokenFile = cmp.Or(f.tokenFile, os.Getenv(tokenVariable))
	}
	return f.server != ""
}

// ask calls served with the server that is named, or stored with the store; what waits
// for either is brought there before.
func (f *serverFlags) ask(ctx context.Context, where *chainStore, served func(c *client.Client) error, stored func(s *store.Store) error) error {
	if !f.fromEnvironment(where) {
		return where.with(ctx, stored)
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	if f.server == os.Getenv(serverVariable) {
		if err := bringToServer(); err != nil { // the other chains are shown all the same
			fmt.Fprintf(os.Stderr, "segue: %s\n", oneLine(err))
		}
	}
	tellWaiting(os.Stderr, f.server)
	return served(c)
}
