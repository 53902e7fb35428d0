package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

const whole = `# A server for two partitions.
listen: 0.0.0.0:7411
socket: /run/segue/segue.sock
tls:
  certificate: /etc/segue/cert.pem
  key: /etc/segue/key.pem
data: /var/lib/segue
database_url: postgres://segue:secret@db/segue
cluster:
  scheduler: slurm
  environment:
    SLURM_CONF: /etc/slurm/slurm.conf
model: default
every: 2s
submissions: 90
history: {collect: 10m, account: 1h30m}
retention: {jobs: 400d, audit: forever}
operators: [ada, bob]
limits:
  body: 512KiB
  import: 8GiB
  concurrent: 64
advice: {fresh: 5s, stale: 1m, replicas: 200}
training:
  schedule: 30 2 * * *
  time_zone: Europe/Zurich
  time_limit: 6h
  command: [srun, --partition=gpu, segue-trainer]
  webhook: https://hooks.example.org/T0/secret
  mail: {from: segue@example.org, to: [ops@example.org]}
log_level: debug
`

func TestAFileIsRead(t *testing.T) {
	t.Parallel()
	got, err := Parse("segue.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Listen: "0.0.0.0:7411", Socket: "/run/segue/segue.sock", TLS: TLS{Certificate: "/etc/segue/cert.pem", Key: "/etc/segue/key.pem"},
		Data: "/var/lib/segue", DatabaseURL: "postgres://segue:secret@db/segue",
		Cluster: Cluster{Scheduler: "slurm", Environment: map[string]string{"SLURM_CONF": "/etc/slurm/slurm.conf"}},
		Model:   "default", Every: Duration(2 * time.Second), Submissions: 90,
		History:   History{Collect: Duration(10 * time.Minute), Account: Duration(90 * time.Minute)},
		Retention: Retention{Jobs: Keep(400 * 24 * time.Hour), Audit: Forever},
		Operators: []string{"ada", "bob"}, Limits: Limits{Body: 512 << 10, Import: 8 << 30, Concurrent: 64},
		Advice: Advice{Duration(5 * time.Second), Duration(time.Minute), 200},
		Training: Training{
			Schedule: "30 2 * * *", TimeZone: "Europe/Zurich", TimeLimit: Duration(6 * time.Hour),
			Command: []string{"srun", "--partition=gpu", "segue-trainer"}, Webhook: "https://hooks.example.org/T0/secret",
			Mail: Mail{From: "segue@example.org", To: []string{"ops@example.org"}},
		},
		LogLevel: "debug",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestWhatIsWrongIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string
	}{
		"nothing":                {"", nil},
		"nothing but a comment":  {"# later\n", nil},
		"a name that is unknown": {"data: /d\nlimits:\n  memory: 1GiB\n", []string{"c.yaml:3:3: memory is not known here: want body, import, time, import_time, concurrent, rate, streams, imports"}},
		"a span without a unit":  {"every: 3\n", []string{`c.yaml:1:8: found "3": want a span of more than 0 with its unit: 3s, 10m, 36h or 7d`}},
		"a span of another unit": {"every: 3 weeks\n", []string{`c.yaml:1:8: found "3 weeks": want a span of more than 0 with its unit: 3s, 10m, 36h or 7d`}},
		"a negative span":        {"every: -3s\n", []string{`c.yaml:1:8: found "-3s": want a span of more than 0 with its unit: 3s, 10m, 36h or 7d`}},
		"a span that is a list":  {"every: [3s]\n", []string{`c.yaml:1:8: found a list: want a span of more than 0 with its unit: 3s, 10m, 36h or 7d`}},
		"a size without a unit":  {"limits: {body: 512}\n", []string{`c.yaml:1:16: found "512": want a whole number of more than 0 with its unit: B, KiB, MiB, GiB or TiB`}},
		"a size beyond all":      {"limits: {body: 99999999999TiB}\n", []string{`c.yaml:1:16: found "99999999999TiB": want a whole number of more than 0 with its unit: B, KiB, MiB, GiB or TiB`}},
		"fewer than one":         {"submissions: -1\n", []string{"c.yaml:1:14: submissions: found -1: want 1 or more"}},
		"a text for a number":    {"limits:\n  streams: many\n", []string{"c.yaml:2:12: found many: want a whole number"}},
		"a text for a list":      {"operators: ada\n", []string{"c.yaml:1:12: found ada: want a list"}},
		"a text for a group":     {"tls: yes\n", []string{"c.yaml:1:6: found yes: want a group of settings: certificate, key, elsewhere"}},
		"a name twice":           {"data: /a\ndata: /b\n", []string{`c.yaml:2:1: mapping key "data" already defined at line 1`}},
		"half a certificate":     {"tls:\n  key: k.pem\n", []string{"c.yaml:2:3: tls: want certificate and key, or neither"}},
		"an address of no port":  {"listen: localhost\n", []string{`c.yaml:1:9: listen: found "localhost": want HOST:PORT, such as 127.0.0.1:7411`}},
		"another scheduler":      {"cluster: {scheduler: pbs}\n", []string{`c.yaml:1:22: cluster.scheduler: found "pbs": want one of auto, slurm, none`}},
		"another database":       {"database_url: mysql://root:secret@db\n", []string{"c.yaml:1:15: database_url: want postgres://...; without it the server keeps a file in data"}},
		"several at once": {
			"log_level: loud\nadvice: {fresh: 1m, stale: 5s}\n",
			[]string{
				"c.yaml:2:28: advice.stale: found 5s: want no less than fresh, which is 1m",
				`c.yaml:1:12: log_level: found "loud": want one of debug, info, warn, error`,
			},
		},
		"no collector": {
			"tracing: {endpoint: localhost:4318, ratio: 2}\n",
			[]string{
				`c.yaml:1:21: tracing.endpoint: found "localhost:4318": want http://HOST:PORT or https://...`,
				"c.yaml:1:44: tracing.ratio: found 2: want more than 0, and at most 1",
			},
		},
		"a span to keep": {"retention: {audit: always}\n", []string{`c.yaml:1:20: found "always": want a span of more than 0 with its unit: 3s, 10m, 36h or 7d, or forever`}},
		"less kept than trained on": {
			"retention: {jobs: 90d}\ntraining: {schedule: '@daily'}\n",
			[]string{"c.yaml:1:19: retention.jobs: found 2160h: want no less than what is trained on, which is 4320h (training.back)"},
		},
		"no port": {"listen: 127.0.0.1:99999\n", []string{`c.yaml:1:9: listen: found "127.0.0.1:99999": want HOST:PORT, such as 127.0.0.1:7411`}},
		"beyond the machine, no TLS": {
			"listen: 0.0.0.0:7411\n",
			[]string{`c.yaml:1:9: listen: found "0.0.0.0:7411": beyond this machine there must be TLS: want tls.certificate and tls.key, or tls.elsewhere where a proxy sees to it`},
		},
		"beyond the machine, a proxy": {"listen: 0.0.0.0:7411\ntls: {elsewhere: true}\n", nil},
		"staler than the default":     {"advice: {stale: 5s}\n", []string{"c.yaml:1:17: advice.stale: found 5s: want no less than fresh, which is 10s"}},
		"fresher than the default":    {"advice: {fresh: 1m}\n", nil},
		"nothing is recorded":         {"tracing: {ratio: 0}\n", []string{"c.yaml:1:18: tracing.ratio: found 0: want more than 0, and at most 1"}},
		"two documents":               {"log_level: info\n---\nlog_level: debug\n", []string{"c.yaml:2:1: a second document begins: want one"}},
		"a schedule":                  {"training: {schedule: at night}\n", []string{`c.yaml:1:22: training.schedule: found "at night": want five fields as in crontab(5), such as 30 2 * * *, or @daily: expected exactly 5 fields, found 2: [at night]`}},
		"a schedule of no hour": {
			"training:\n  schedule: 99 99 * * *\n",
			[]string{`c.yaml:2:13: training.schedule: found "99 99 * * *": want five fields as in crontab(5), such as 30 2 * * *, or @daily: end of range (99) above maximum (59): 99`},
		},
		"a schedule of no day": {"training: {schedule: 30 2 31 2 *}\n", []string{`c.yaml:1:22: training.schedule: found "30 2 31 2 *": want a day that comes`}},
		"a word that no schedule has": {
			"training: {schedule: '@nightly'}\n",
			[]string{`c.yaml:1:22: training.schedule: found "@nightly": want five fields as in crontab(5), such as 30 2 * * *, or @daily: unrecognized descriptor: @nightly`},
		},
		"judged on most of it": {
			"training: {back: 80d, judge: 27d}\n",
			[]string{"c.yaml:1:30: training.judge: found 648h: want no more than a third of what is used, which is 1920h (training.back)"},
		},
		"judged on more than the default": {
			"training: {judge: 61d}\n",
			[]string{"c.yaml:1:19: training.judge: found 1464h: want no more than a third of what is used, which is 4320h (training.back)"},
		},
		"trained on too little": {
			"training: {back: 62d}\n",
			[]string{"c.yaml:1:18: training.back: found 1488h: want three times what models are judged on, which is 504h (training.judge)"},
		},
		"trained on just enough": {"training: {schedule: '@every 12h', back: 63d}\n", nil},
		"a time zone":            {"training: {time_zone: Zürich}\n", []string{`c.yaml:1:23: training.time_zone: found "Zürich": want a name such as Europe/Zurich`}},
		"no YAML":                {"listen: [\n", []string{"c.yaml:"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("c.yaml", []byte(tt.text))
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if segue.KindOf(err) != segue.Invalid {
				t.Fatalf("error %v (%s), want one of kind invalid", err, segue.KindOf(err))
			}
			got := strings.Split(err.Error(), "\n")
			if name == "no YAML" {
				got = []string{got[0][:len(tt.want[0])]}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsPrintedCanBeReadAndHasNoSecret(t *testing.T) {
	t.Parallel()
	c, err := Parse("segue.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Print(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("a secret is printed:\n%s", text)
	}
	again, err := Parse("printed.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	c.DatabaseURL, c.Training.Webhook = "postgres://segue:xxxxx@db/segue", "https://hooks.example.org/xxxxx"
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("what was printed (-want +got):\n%s", diff)
	}
}

func TestTheEnvironmentCountsBeforeTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "segue.yaml")
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := func(name string) string {
		return map[string]string{"DATABASE_URL": "postgres://elsewhere/segue"}[name]
	}
	c, err := Read(path, environment)
	if err != nil || c.DatabaseURL != "postgres://elsewhere/segue" || c.Training.Webhook != "https://hooks.example.org/T0/secret" {
		t.Errorf("%q, %q, %v; want the environment's database and the file's webhook", c.DatabaseURL, c.Training.Webhook, err)
	}
	if c, err := Read("", environment); err != nil || c.DatabaseURL != "postgres://elsewhere/segue" {
		t.Errorf("without a file %q, %v", c.DatabaseURL, err)
	}
	flag := Given{"database_url", "--database-url", func(c *Config) { c.DatabaseURL = "postgres://flag/segue" }}
	if c, err := Read(path, environment, flag); err != nil || c.DatabaseURL != "postgres://flag/segue" {
		t.Errorf("with a flag %q, %v", c.DatabaseURL, err)
	}
	_, err = Read(path+".gone", environment)
	if segue.KindOf(err) != segue.NotFound {
		t.Errorf("error %v, want one of kind not found", err)
	}
}

// What the environment and flags give is checked as what the file says, and called by
// the name of who gives it.
func TestWhatIsGivenBesidesTheFileIsChecked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("listen: 127.0.0.1:7411\ndatabase_url: mysql://db/segue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{
		"DATABASE_URL": "mysql://root:secret@db", "SEGUE_TRAINING_WEBHOOK": "ftp://secret", "OTEL_EXPORTER_OTLP_ENDPOINT": "https:///nowhere",
	}
	environment := func(name string) string { return variables[name] }
	want := []string{
		"DATABASE_URL (database_url): want postgres://...; without it the server keeps a file in data",
		"--listen (listen): found \"127.0.0.1:99999\": want HOST:PORT, such as 127.0.0.1:7411",
		"OTEL_EXPORTER_OTLP_ENDPOINT (tracing.endpoint): found \"https:///nowhere\": want http://HOST:PORT or https://...",
		"SEGUE_TRAINING_WEBHOOK (training.webhook): want https://...",
	}
	for _, file := range []string{"", path} {
		_, err := Read(file, environment, Given{"listen", "--listen", func(c *Config) { c.Listen = "127.0.0.1:99999" }})
		if segue.KindOf(err) != segue.Invalid {
			t.Fatalf("with the file %q: error %v, want one of kind invalid", file, err)
		}
		if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
			t.Errorf("with the file %q (-want +got):\n%s", file, diff)
		}
	}
	delete(variables, "DATABASE_URL")
	if _, err := Read(path, environment); err == nil || !strings.Contains(err.Error(), "c.yaml:2:15: database_url: ") {
		t.Errorf("error %v, want the place in the file where the environment gives nothing", err)
	}
	open := func(c *Config) { c.Listen = "0.0.0.0:7411" }
	proxy := func(c *Config) { c.TLS.Elsewhere = true }
	none := func(string) string { return "" }
	if _, err := Read("", none, Given{"listen", "--listen", open}); err == nil || !strings.Contains(err.Error(), "there must be TLS") {
		t.Errorf("error %v, want that there must be TLS", err)
	}
	if _, err := Read("", none, Given{"listen", "--listen", open}, Given{"tls.elsewhere", "--tls-elsewhere", proxy}); err != nil {
		t.Errorf("behind a proxy: %v", err)
	}
}

// A secret is not printed wherever it may stand.
func TestSecretsOfVariablesAndURLsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c, err := Parse("c.yaml", []byte(`database_url: postgres://db/segue?password=secret1&sslpassword=secret2
cluster: {environment: {SLURM_JWT: secret3, SLURM_CONF: /etc/slurm.conf}}
tracing: {endpoint: "https://secret4:secret5@collector?key=secret6"}
training: {webhook: "https://secret7@hooks.example.org/secret8?secret9"}
`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Print(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "secret") || !strings.Contains(string(text), "SLURM_JWT") || !strings.Contains(string(text), "/etc/slurm.conf") {
		t.Errorf("it prints\n%s", text)
	}
	if c.Cluster.Environment["SLURM_JWT"] != "secret3" {
		t.Error("what is printed has changed what counts")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("limits: {body: 1MiB}")
	f.Add("every: 1d\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f.yaml", []byte(text))
		if err != nil {
			return
		}
		printed, err := Print(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse("printed.yaml", printed); err != nil {
			t.Errorf("what was printed cannot be read: %v\n%s", err, printed)
		}
	})
}
