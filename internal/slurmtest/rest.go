package slurmtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// tokens are the lines of a configuration that let Slurm take tokens.
func (s *Slurm) tokens() []string {
	return []string{"AuthAltTypes=auth/jwt", "AuthAltParameters=jwt_key=" + s.path("jwt.key")}
}

// writeTokenKey makes the key with which slurmctld signs tokens.
func (s *Slurm) writeTokenKey() error {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return os.WriteFile(s.path("jwt.key"), key, 0o600)
}

// startREST starts slurmrestd twice: for who connects by the Unix socket, and for
// who brings a token. It runs as root, as all of this Slurm does, which it is
// told to bear.
func (s *Slurm) startREST(ctx context.Context) error {
	env := append(slices.Clip(s.Env), "SLURMRESTD_SECURITY=disable_user_check")
	argv := []string{"slurmrestd", "-f", s.Conf}
	if !s.cfg.Accounting {
		argv = append(argv, "-s", "openapi/v0.0.38") // without slurmdbd it does not bear the plugins for it
	}
	argv = slices.Clip(argv)
	if err := s.startIn(env, "slurmrestd", append(argv, "-a", "rest_auth/local", "unix:"+s.path("rest.socket"))...); err != nil {
		return err
	}
	port := strings.TrimPrefix(s.REST.Port, "http://")
	if err := s.startIn(append(env, "SLURM_JWT=daemon"), "slurmrestd-jwt", append(argv, "-a", "rest_auth/jwt", port)...); err != nil {
		return err
	}
	for network, address := range map[string]string{"unix": s.path("rest.socket"), "tcp": port} {
		err := s.until(ctx, "slurmrestd listens on "+address, func() error {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return err
			}
			return conn.Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Token returns a token of a user, as scontrol gives it out.
func (s *Slurm) Token(ctx context.Context, user string) (string, error) {
	out, err := s.Command(ctx, "scontrol", "token", "username="+user).Output()
	if err != nil {
		return "", fmt.Errorf("scontrol token: %w", err)
	}
	token, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "SLURM_JWT=")
	if !ok {
		return "", fmt.Errorf("scontrol token printed %q", out)
	}
	return token, nil
}
