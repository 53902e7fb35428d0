package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every key is described, and nothing else is.
func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	all := Settings()
	for _, s := range all {
		if s.Kind == "" || s.About == "" {
			t.Errorf("%s is a %q, %q: want words for both", s.Name, s.Kind, s.About)
		}
		if (s.Default == "") != strings.Contains(s.About, "; default ") {
			t.Errorf("%s has the default %q, and %q: want one place that says what counts without it", s.Name, s.Default, s.About)
		}
	}
	if len(all) != len(described) {
		t.Errorf("%d keys, %d descriptions", len(all), len(described))
	}
}

// docs/configuration.md has a row for each key, with what the program says of it.
func TestTheDocumentHasEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, s := range Settings() {
		standard := ""
		if s.Default != "" {
			standard = "`" + s.Default + "`"
		}
		want = append(want, strings.Join([]string{"| `" + s.Name + "`", s.Kind, standard, s.About + " |"}, " | "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of docs/configuration.md (-want +got):\n%s", diff)
	}
}

// What is printed of a file that sets nothing is, without the first letter of each
// line, a file with every default that has a value, and one that can be used.
func TestDefaultsArePrintedAsAFileThatCanBeUsed(t *testing.T) {
	t.Parallel()
	text, err := PrintAll(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Parse("comments", text); err != nil || !cmp.Equal(c, Config{}) {
		t.Errorf("as it is printed it sets %+v, %v", c, err)
	}
	var file strings.Builder
	for line := range strings.Lines(string(text)) {
		line, commented := strings.CutPrefix(line, "#")
		setting, _, about := strings.Cut(line, " # ")
		if !commented {
			t.Errorf("%q is no comment", line)
		}
		if about && strings.HasSuffix(strings.TrimSpace(setting), ":") {
			continue // it has no fixed default
		}
		file.WriteString(line)
	}
	c, err := Parse("defaults", []byte(file.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, file.String())
	}
	got, err := Print(c)
	if err != nil {
		t.Fatal(err)
	}
	set, err := settingsIn(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Settings() {
		if empty := s.Default == "[]" || s.Default == "{}" || s.Default == "false"; (s.Default != "" && !empty) != set[s.Name] {
			t.Errorf("%s, by default %q: it is set: %t", s.Name, s.Default, set[s.Name])
		}
	}
}

// What a file sets is printed first, and not again among the defaults.
func TestWhatIsSetIsNoDefault(t *testing.T) {
	t.Parallel()
	c, err := Parse("segue.yaml", []byte("every: 2s\ntraining: {keep: 3, mail: {from: a@b, to: [c@d]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := PrintAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse("printed", text); err != nil || !cmp.Equal(c, again) {
		t.Errorf("it means %+v, %v; want %+v\n%s", again, err, c, text)
	}
	for _, not := range []string{"#every:", "#  keep:", "#    from:"} {
		if strings.Contains(string(text), not) {
			t.Errorf("%q is among the defaults:\n%s", not, text)
		}
	}
	if want := "#training:\n#  schedule:"; !strings.Contains(string(text), want) || !strings.Contains(string(text), "#  mail:\n#    server: localhost:25") {
		t.Errorf("the defaults lack %q, or the server of mail:\n%s", want, text)
	}
}
