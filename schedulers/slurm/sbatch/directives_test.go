package sbatch_test

import (
	"strings"
	"testing"

	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

func TestDirectivesAreFoundAndSplitAsSbatchDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want, refused string }{
		"words":                                    {"#SBATCH -N 2\t--job-name=x", "[-N] [2] [--job-name=x]", ""},
		"no space after the prefix":                {"#SBATCH--time=1", "[--time=1]", ""},
		"other comments":                           {"##SBATCH -N1\n# SBATCH -N1\n #SBATCH -N1\n#sbatch -N1\n#SBATC -N1", "", ""},
		"report 44: a blank line ends nothing":     {"#SBATCH -N1\n\n  # note\n\t\n#SBATCH -J x", "[-N1] [-J] [x]", ""},
		"a command ends them":                      {"#SBATCH -N1\nset -e\n#SBATCH -N9", "[-N1]", ""},
		"an indented command ends them":            {"  true\n#SBATCH -N9", "", ""},
		"report 42: words in brackets are words":   {"#SBATCH --job-name=x   (the name)", "[--job-name=x] [(the] [name)]", ""},
		"both kinds of quotation marks":            {`#SBATCH -J "a b" --comment='c "d"'`, `[-J] [a b] [--comment=c "d"]`, ""},
		"quotation marks within a word":            {`#SBATCH --comment=a" b "c`, "[--comment=a b c]", ""},
		"a backslash within quotation marks":       {`#SBATCH -o 'spaces\ out' -J "it\"s"`, `[-o] [spaces out] [-J] [it"s]`, ""},
		"report 53: backslashes are used up":       {`#SBATCH --wrap=a\&\&b\$c`, "[--wrap=a&&b$c]", ""},
		"report 53: nothing is expanded":           {"#SBATCH -o $HOME/~/`x`", "[-o] [$HOME/~/`x`]", ""},
		"a backslash at the end":                   {`#SBATCH -J a\`, "[-J] [a]", ""},
		"no continuation of lines":                 {"#SBATCH -J a \\\n#SBATCH -N1", "[-J] [a] [-N1]", ""},
		"a comment within a word":                  {"#SBATCH -J a#b -N 2", "[-J] [a]", ""},
		"a # that is no comment":                   {`#SBATCH -J a\#b -o "c#d"`, "[-J] [a#b] [-o] [c#d]", ""},
		"an empty word ends the line":              {"#SBATCH --comment \"\" -N 2\n#SBATCH -J x", "[--comment] [-J] [x]", ""},
		"an empty value after an equals sign":      {`#SBATCH --comment="" -N 2`, "[--comment=] [-N] [2]", ""},
		"option and value on two lines":            {"#SBATCH --time\n#SBATCH 10:00", "[--time] [10:00]", ""},
		"the old prefix":                           {"#SLURM -N 2", "[-N] [2]", ""},
		"an open quotation mark":                   {"#SBATCH -N1\n#SBATCH -J \"a b", "[-N1] [-J]", "line 2: a quotation mark is not closed"},
		"a word that begins with a colon":          {"#SBATCH -J :x", "[-J]", "line 1: a word of a directive begins with a colon"},
		"a quoted word that begins with a colon":   {`#SBATCH -J ":x"`, "[-J] [:x]", ""},
		"components of a heterogeneous job":        {"#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2", "[-N1] (het)", ""},
		"components of one in the old word":        {"#SBATCH packjob", "(het)", ""},
		"report 39: no word is read as JSON":       {`#SBATCH --export={"A":"B"}`, `[--export={A:B}]`, ""},
		"the last line without an end":             {"#SBATCH -N 2", "[-N] [2]", ""},
		"report 46: an option about other systems": {"#SBATCH --ignore-pbs\n#PBS -l nodes=2", "[--ignore-pbs]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sbatch.ReadDirectives([]byte(c.script), "#SBATCH")
			var words []string
			for _, w := range d.Words {
				words = append(words, "["+w.Text+"]")
			}
			if d.Het {
				words = append(words, "(het)")
			}
			if got := strings.Join(words, " "); got != c.want || d.Refused != c.refused {
				t.Errorf("got %s, refused %q\nwant %s, refused %q", got, d.Refused, c.want, c.refused)
			}
		})
	}
}

func FuzzDirectives(f *testing.F) {
	for _, s := range []string{"#SBATCH -N 2", "#SBATCH -J \"a", "#SBATCH a\\", "#SLURM :\n#SBATCH 'x'#y", "#!/bin/sh\n\n#SBATCH \"\" b\r\n", "#SBATCH hetjob"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		d := sbatch.ReadDirectives([]byte(script), "#SBATCH")
		lines := strings.Count(script, "\n") + 1
		at := 1
		for _, w := range d.Words {
			if w.Text == "" || w.Line < at || w.Line > lines {
				t.Fatalf("word %q of line %d, after line %d, of %d", w.Text, w.Line, at, lines)
			}
			at = w.Line
			if strings.Contains(w.Text, "\n") {
				t.Fatalf("word %q goes over two lines", w.Text)
			}
		}
	})
}
