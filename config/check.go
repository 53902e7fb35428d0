package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a static binary on a bare machine has no zone files

	"github.com/robfig/cron/v3"
)

// trainedOn is the default of training.back, judgedOn that of training.judge.
const (
	trainedOn = Duration(180 * 24 * time.Hour)
	judgedOn  = Duration(21 * 24 * time.Hour)
)

// answersFor is the default of advice.fresh.
const answersFor = Duration(10 * time.Second)

// wrong is a value that makes no sense.
type wrong struct {
	path []string
	text string
}

// check returns what makes no sense, though each value can be read.
func (c *Config) check() []wrong {
	var all []wrong
	refuse := func(path, format string, args ...any) {
		all = append(all, wrong{strings.Split(path, "."), fmt.Sprintf(format, args...)})
	}
	c.checkListen(refuse)
	if c.DatabaseURL != "" && !isPostgres(c.DatabaseURL) {
		refuse("database_url", "want postgres://...; without it the server keeps a file in data") // it may hold a password
	}
	oneOf := func(path, value string, allowed ...string) {
		if value != "" && !slices.Contains(allowed, value) {
			refuse(path, "found %q: want one of %s", value, strings.Join(allowed, ", "))
		}
	}
	oneOf("cluster.scheduler", c.Cluster.Scheduler, "auto", "slurm", "none")
	oneOf("log_level", c.LogLevel, "debug", "info", "warn", "error")
	for path, n := range map[string]int{
		"limits.concurrent": c.Limits.Concurrent, "limits.rate": c.Limits.Rate, "limits.streams": c.Limits.Streams, "limits.imports": c.Limits.Imports,
		"submissions": c.Submissions, "advice.replicas": c.Advice.Replicas, "training.keep": c.Training.Keep, "training.nodes": c.Training.Nodes,
	} {
		if n < 0 {
			refuse(path, "found %d: want 1 or more", n)
		}
	}
	if fresh := cmp.Or(c.Advice.Fresh, answersFor); c.Advice.Stale != 0 && c.Advice.Stale < fresh {
		refuse("advice.stale", "found %s: want no less than fresh, which is %s", c.Advice.Stale, fresh)
	}
	if c.Every != 0 && c.Every.Std() < time.Second {
		refuse("every", "found %s: want at least 1s", c.Every)
	}
	if u, err := url.Parse(c.Tracing.Endpoint); c.Tracing.Endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		refuse("tracing.endpoint", "found %q: want http://HOST:PORT or https://...", withoutUser(c.Tracing.Endpoint))
	}
	if r := c.Tracing.Ratio; r != nil && !(*r > 0 && *r <= 1) { // NaN is neither
		refuse("tracing.ratio", "found %g: want more than 0, and at most 1", *r)
	}
	used := cmp.Or(c.Training.Back, trainedOn)
	if c.Retention.Jobs > 0 && c.Training.Schedule != "" && Duration(c.Retention.Jobs) < used {
		refuse("retention.jobs", "found %s: want no less than what is trained on, which is %s (training.back)", c.Retention.Jobs, used)
	}
	c.Training.check(refuse)
	slices.SortFunc(all, func(a, b wrong) int { return slices.Compare(a.path, b.path) })
	return all
}

// checkListen refuses what nobody can listen on, and what a server does not.
func (c *Config) checkListen(refuse func(path, format string, args ...any)) {
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		refuse("tls", "want certificate and key, or neither")
	}
	if c.Listen == "" {
		return
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	switch {
	case err != nil:
		refuse("listen", "found %q: want HOST:PORT, such as 127.0.0.1:7411", c.Listen)
	case !Loopback(host) && c.TLS == (TLS{}):
		refuse("listen", "found %q: beyond this machine there must be TLS: want tls.certificate and tls.key, or tls.elsewhere where a proxy sees to it", c.Listen)
	}
}

// Loopback reports whether a host is this machine, which no network reaches.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (t *Training) check(refuse func(path, format string, args ...any)) {
	if t.Schedule != "" {
		when, err := cron.ParseStandard(t.Schedule)
		switch {
		case err != nil:
			refuse("training.schedule", "found %q: want five fields as in crontab(5), such as 30 2 * * *, or @daily: %s", t.Schedule, err)
		case when.Next(time.Unix(0, 0).UTC()).IsZero(): // the 31st of February
			refuse("training.schedule", "found %q: want a day that comes", t.Schedule)
		}
	}
	if back, judge := cmp.Or(t.Back, trainedOn), cmp.Or(t.Judge, judgedOn); back < 3*judge {
		if t.Judge != 0 {
			refuse("training.judge", "found %s: want no more than a third of what is used, which is %s (training.back)", judge, back)
		} else {
			refuse("training.back", "found %s: want three times what models are judged on, which is %s (training.judge)", back, judge)
		}
	}
	if _, err := time.LoadLocation(t.TimeZone); err != nil || t.TimeZone == "Local" {
		refuse("training.time_zone", "found %q: want a name such as Europe/Zurich", t.TimeZone)
	}
	if t.Webhook != "" {
		if u, err := url.Parse(t.Webhook); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			refuse("training.webhook", "want https://...") // it may hold a secret
		}
	}
	if len(t.Mail.To) > 0 && t.Mail.From == "" {
		refuse("training.mail", "want from, the address that mail comes from")
	}
}

func isPostgres(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") && (u.Host != "" || len(u.Path) > 1)
}
