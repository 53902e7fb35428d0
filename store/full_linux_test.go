package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/segue-project/segue"
)

// A server whose disk has filled up is restarted: it must come back, to answer. The
// disk is a small one in the memory of a child, which alone sees it.
func TestAStoreOnAFullDiskIsOpenedAndRead(t *testing.T) {
	t.Parallel()
	for _, ended := range []string{"closed", "killed"} {
		t.Run(ended, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "child")
			copyProgram(t, program)
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Env = append(os.Environ(), childVariable+"=full", "WHERE="+t.TempDir(), "ENDED="+ended)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			if id := os.Getuid(); id != 0 {
				cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: id, Size: 1}}
			}
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.EPERM) {
				t.Log("no disk of its own is allowed here")
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if want := "1 chain; the next one: unavailable; with room: <nil>"; string(out) != want {
				t.Errorf("the child says %q, want %q", out, want)
			}
		})
	}
}

// fillUp makes a store on a disk of its own at a folder, fills the disk, opens the store
// again, and tells what can be done with it.
func fillUp(where, ended string) error {
	ctx := context.Background()
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", where, "tmpfs", 0, "size=4m"); err != nil {
		return err
	}
	path, filler := filepath.Join(where, "segue.db"), filepath.Join(where, "filler")
	first, err := Open(ctx, path, Config{})
	if err != nil {
		return err
	}
	if err := first.CreateChain(ctx, aChain("c"), aLink("c", 1)); err != nil {
		return err
	}
	if ended == "closed" {
		if err := first.Close(); err != nil {
			return err
		}
	}
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	for page := make([]byte, 512); err == nil; {
		_, err = f.Write(page)
	}
	if err := errors.Join(f.Close(), ignore(err, syscall.ENOSPC)); err != nil {
		return err
	}
	s, err := Open(ctx, path, Config{})
	if err != nil {
		return err
	}
	chains, err := s.Chains(ctx, ChainQuery{})
	if err != nil {
		return err
	}
	refused := s.CreateChain(ctx, aChain("d"), aLink("d", 1))
	if err := os.Remove(filler); err != nil {
		return err
	}
	again := s.CreateChain(ctx, aChain("d"), aLink("d", 1))
	fmt.Printf("%d chain; the next one: %s; with room: %v", len(chains), segue.KindOf(refused), again)
	return s.Close()
}

// ignore returns an error unless it is the one that is wanted.
func ignore(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return err
}
