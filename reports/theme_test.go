package reports

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance is the relative luminance of a colour, by WCAG 2.2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) == 4 {
		colour = fmt.Sprintf("#%[1]c%[1]c%[2]c%[2]c%[3]c%[3]c", colour[1], colour[2], colour[3])
	}
	total := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		channel := float64(v) / 255
		if channel <= 0.04045 {
			channel /= 12.92
		} else {
			channel = math.Pow((channel+0.055)/1.055, 2.4)
		}
		total += weight * channel
	}
	return total
}

func TestColoursStandOutFromThePaper(t *testing.T) {
	t.Parallel()
	light, dark, _ := strings.Cut(theme, "@media")
	for name, sheet := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9]+):(#[0-9a-f]+)`).FindAllStringSubmatch(sheet, -1) {
			colours[m[1]] = m[2]
		}
		paper := luminance(t, colours["paper"])
		contrast := func(name string) float64 {
			l := luminance(t, colours[name])
			return (max(l, paper) + 0.05) / (min(l, paper) + 0.05)
		}
		for i := range seriesColours {
			if c := contrast("c" + strconv.Itoa(i)); c < 3 {
				t.Errorf("%s: series colour %d has a contrast of %.2f, want at least 3", name, i, c)
			}
		}
		for _, mark := range []string{"gap", "run", "queue"} {
			if c := contrast(mark); c < 3 {
				t.Errorf("%s: %s has a contrast of %.2f, want at least 3", name, mark, c)
			}
		}
		for _, text := range []string{"ink", "soft"} {
			if c := contrast(text); c < 4.5 {
				t.Errorf("%s: %s lettering has a contrast of %.2f, want at least 4.5", name, text, c)
			}
		}
	}
}

func TestLooksTellManySeriesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]Look{}
	for look := OracleLook; look < 3*seriesColours; look++ {
		key := look.class() + look.dash()
		if other, twice := seen[key]; twice {
			t.Errorf("looks %d and %d are the same line", other, look)
		}
		seen[key] = look
	}
}
