package slurmtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// configure writes slurm.conf and gres.conf.
func (s *Slurm) configure() error {
	ports, err := freePorts(s.cfg.Nodes + 3)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	for _, dir := range []string{"state", "spool"} {
		if err := os.MkdirAll(filepath.Join(s.Dir, dir), 0o755); err != nil {
			return err
		}
	}
	lines := []string{
		"ClusterName=segue",
		"SlurmctldHost=" + host + "(127.0.0.1)",
		"SlurmUser=root",
		fmt.Sprintf("SlurmctldPort=%d", ports[0]),
		"AuthType=auth/munge",
		"AuthInfo=socket=" + s.path("munge.socket") + ",cred_expire=30",
		"CryptoType=crypto/munge",
		"StateSaveLocation=" + s.path("state"),
		"SlurmdSpoolDir=" + s.path("spool") + "/%n",
		"SlurmctldPidFile=" + s.path("slurmctld.pid"),
		"SlurmdPidFile=" + s.path("slurmd.%n.pid"),
		"SlurmdParameters=config_overrides",
		"ProctrackType=proctrack/linuxproc",
		"TaskPlugin=task/none",
		"JobAcctGatherType=jobacct_gather/none",
		"SelectType=select/cons_tres",
		"SelectTypeParameters=CR_Core",
		"GresTypes=gpu",
		"ReturnToService=2",
		"MailProg=/bin/true",
		"JobRequeue=1",
		"KillWait=2",
		"MinJobAge=300",
		"SlurmctldTimeout=60",
		"SlurmdTimeout=300",
		"MessageTimeout=10",
		"InactiveLimit=0",
		"OverTimeLimit=0",
		"SchedulerType=sched/backfill",
		"SchedulerParameters=" + strings.TrimPrefix(s.cfg.Parameters+",bf_interval=3,bf_resolution=60,sched_interval=3,batch_sched_delay=1", ","),
		"PriorityType=priority/basic",
	}
	lines = append(lines, s.cfg.Extra...)
	if s.cfg.REST {
		if err := s.writeTokenKey(); err != nil {
			return err
		}
		lines = append(lines, s.tokens()...)
		s.REST.Socket, s.REST.Port = "unix://"+s.path("rest.socket"), fmt.Sprintf("http://127.0.0.1:%d", ports[s.cfg.Nodes+2])
	}
	if s.cfg.Accounting {
		lines = append(
			lines, "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
			fmt.Sprintf("AccountingStoragePort=%d", ports[1]), "AccountingStoragePass="+s.path("munge.socket"), "AccountingStorageTRES=gres/gpu", "AccountingStoreFlags=job_comment",
		)
	}
	for i := range s.cfg.Nodes {
		lines = append(lines, fmt.Sprintf("NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=4 RealMemory=1000 Gres=gpu:%d State=UNKNOWN",
			i+1, host, ports[i+2], s.cfg.GPUsPerNode))
	}
	if len(s.cfg.Partitions) == 0 {
		lines = append(lines, "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
	}
	lines = append(lines, s.cfg.Partitions...)
	if err := os.WriteFile(s.Conf, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	// GPUs that do not exist: any device file will do, and a count without one
	// would not register.
	gres := fmt.Sprintf("NodeName=n[1-%d] Name=gpu File=/dev/tty[0-%d]\n", s.cfg.Nodes, s.cfg.GPUsPerNode-1)
	if err := os.WriteFile(s.path("gres.conf"), []byte(gres), 0o644); err != nil {
		return err
	}
	if !s.cfg.Accounting {
		return nil
	}
	dbd := []string{
		"AuthType=auth/munge", "AuthInfo=socket=" + s.path("munge.socket"), "DbdHost=localhost", "DbdAddr=127.0.0.1",
		fmt.Sprintf("DbdPort=%d", ports[1]), "SlurmUser=root", "PidFile=" + s.path("slurmdbd.pid"),
		"StorageType=accounting_storage/mysql", "StorageHost=localhost", "StorageUser=root", "StorageLoc=slurm_acct",
	}
	if s.cfg.REST {
		dbd = append(dbd, s.tokens()...)
	}
	return os.WriteFile(s.path("slurmdbd.conf"), []byte(strings.Join(dbd, "\n")+"\n"), 0o600)
}

func (s *Slurm) path(name string) string { return filepath.Join(s.Dir, name) }

func (s *Slurm) startMunge(ctx context.Context) error {
	if out, err := s.Command(ctx, "mungekey", "--create", "--keyfile="+s.path("munge.key")).CombinedOutput(); err != nil {
		return fmt.Errorf("mungekey: %w: %s", err, out)
	}
	err := s.start("munged", "munged", "--foreground", "--force", "--key-file="+s.path("munge.key"), "--socket="+s.path("munge.socket"),
		"--pid-file="+s.path("munged.pid"), "--log-file="+s.path("munged-own.log"), "--seed-file="+s.path("munge.seed"))
	if err != nil {
		return err
	}
	return s.until(ctx, "munged has a socket", func() error {
		_, err := os.Stat(s.path("munge.socket"))
		return err
	})
}

// startAccounting starts MariaDB and slurmdbd, and makes the cluster known.
func (s *Slurm) startAccounting(ctx context.Context) error {
	data, socket := s.path("mariadb"), s.path("mariadb.socket")
	// When it starts, MariaDB removes the temporary tables of all servers in its folder
	// for them, and a server of which one is gone crashes.
	temporary := "--tmpdir=" + s.path("mariadb-tmp")
	if err := os.Mkdir(s.path("mariadb-tmp"), 0o700); err != nil {
		return err
	}
	install := s.Command(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+data, temporary, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db")
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	err := s.start("mariadbd", "mariadbd", "--no-defaults", "--datadir="+data, temporary, "--socket="+socket, "--pid-file="+s.path("mariadb.pid"),
		"--user=root", "--skip-networking", "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900")
	if err != nil {
		return err
	}
	err = s.until(ctx, "MariaDB answers", func() error {
		return s.Command(ctx, "mariadb", "--no-defaults", "--socket="+socket, "-e", "CREATE DATABASE IF NOT EXISTS slurm_acct").Run()
	})
	if err != nil {
		return err
	}
	// libmariadb finds the socket by this variable.
	s.Env = append(s.Env, "MYSQL_UNIX_PORT="+socket)
	if err := s.start("slurmdbd", "slurmdbd", "-D", "-s"); err != nil {
		return err
	}
	return s.until(ctx, "slurmdbd knows the cluster", func() error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for _, args := range [][]string{{"add", "cluster", "segue"}, {"add", "account", "lab"}, {"add", "user", "root", "account=lab"}} {
			out, err := s.Command(ctx, "sacctmgr", append([]string{"-i"}, args...)...).CombinedOutput()
			if err != nil && !strings.Contains(string(out), "Nothing new added") && !strings.Contains(string(out), "already exists") {
				return fmt.Errorf("sacctmgr %v: %w: %s", args, err, out)
			}
		}
		return nil
	})
}
