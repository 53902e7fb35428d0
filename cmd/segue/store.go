package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/store"
)

func newStoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Back up and restore what segue remembers",
		Long: `The store holds chains, links, decisions and the histories of clusters: in a file
of one's own, or in PostgreSQL (--store, DATABASE_URL). docs/store.md tells more.`,
	}
	cmd.AddCommand(newStoreBackupCommand(), newStoreRestoreCommand())
	return cmd
}

func newStoreBackupCommand() *cobra.Command {
	var where chainStore
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of the store to a new file",
		Long: `Backup writes the store, as it is at one instant, to a new file, while others go
on working with it. The copy is checked before it has its name. It is an SQLite
database, compressed by gzip, whichever engine it comes from, and holds the
environments and scripts of jobs: keep it as safe as those.`,
		Example: "  segue store backup segue-$(date +%F).db.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return where.with(cmd.Context(), func(s *store.Store) error {
				if err := s.Backup(cmd.Context(), args[0]); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s is a copy of %s.\n", args[0], s.Where())
				return nil
			})
		},
	}
	where.add(cmd.Flags())
	return cmd
}

func newStoreRestoreCommand() *cobra.Command {
	var where chainStore
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Fill an empty store with a backup",
		Long: `Restore fills a store, which must be empty, with a backup of either engine: all of
it, or nothing. So one moves from the file to PostgreSQL, and back. Stop the agent
of the store that was backed up first: two must not keep the same chains going.`,
		Example: "  segue store restore segue-2026-11-29.db.gz --store postgres://segue@db/segue",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := where.openOnly(cmd.Context()) // what was submitted since comes after what is restored
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			if err := s.Restore(cmd.Context(), args[0]); err != nil {
				return err // the store is as it was: empty
			}
			if err := audited(cmd.Context(), s, "restore-store", args[0], func() error { return nil }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s holds what %s held.\n", s.Where(), args[0])
			return nil
		},
	}
	where.add(cmd.Flags())
	return cmd
}
