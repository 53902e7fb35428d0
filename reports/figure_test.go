package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// figures are one of each kind, by name.
func figures(tb testing.TB) map[string]reports.Figure {
	tb.Helper()
	return map[string]reports.Figure{
		"frontier":     smallFrontier(),
		"curve":        curve(),
		"chain":        chain(),
		"cluster":      cluster(),
		"dots":         smallDots(),
		"distribution": *waits(),
		"calibration":  *quantiles(),
		"lines":        course(),
		"band":         hoursToCome(),
	}
}

// hoursToCome is a wait over the hours to come, one of which is not known.
func hoursToCome() reports.Band {
	return reports.Band{
		Title: "Waits of 4 nodes", X: "submitted after", Y: "wait, h", Range: "80 % of waits",
		At: []float64{0, 1, 2, 6}, Lo: []float64{0.5, math.NaN(), 0.25, 0}, Mid: []float64{2, 2, 1.5, 0.5}, Hi: []float64{6, 5, 4, 1},
	}
}

// course is a training whose best step is the second of three.
func course() reports.Lines {
	nan := math.NaN()
	return reports.Lines{
		Title: "How it went", X: "step",
		Panels: []reports.LinePanel{
			{Axis: "loss", Series: []reports.LineSeries{{Name: "loss", X: []float64{0, 500, 1000}, Y: []float64{nan, 0.12345, 0.1}, Best: nan}}},
			{Axis: "cost, hours", Series: []reports.LineSeries{
				{Name: "cost", Look: 1, X: []float64{0, 500, 1000}, Y: []float64{0.2, 0.15, 12.3456}, Best: 500},
				{Name: "of another", Look: 2, X: []float64{250}, Y: []float64{0.3}, Best: nan},
			}},
			{Axis: "weight", Percent: true, Series: []reports.LineSeries{{Name: "none", X: []float64{1}, Y: []float64{nan}}}},
		},
	}
}

func smallFrontier() reports.Frontier {
	return reports.Frontier{
		Title: "Frontiers",
		Series: []reports.FrontierSeries{
			{Name: "constant lead", Look: reports.ConstantLook, Points: []evaluation.Point{
				{Interruption: 5}, {Overlap: 2, Interruption: 3}, {Overlap: 10, Interruption: 0},
			}},
			{
				Name: "planner", Points: []evaluation.Point{{Overlap: 0.5, Interruption: 2}, {Overlap: 3, Interruption: 0.5}},
				Tuned: &evaluation.Point{Overlap: 1, Interruption: 1.8},
			},
		},
	}
}

func smallDots() reports.Dots {
	nan := math.NaN()
	return reports.Dots{
		Title: "Scores",
		Rows:  []reports.DotRow{{Name: "constant lead", Look: reports.ConstantLook}, {Name: "planner"}, {Name: "odd", Look: 1}},
		Panels: []reports.DotPanel{
			{
				Title: "gap closed", Axis: "share", Percent: true, Least: -1,
				Values: []reports.Dot{{}, {0.67, 0.51, 0.8}, {-7, nan, -3}},
				Marks:  []reports.Mark{{Value: 1, Name: "oracle"}},
			},
			{Title: "cost", Axis: "hours", Values: []reports.Dot{{3.18, 2.5, 4}, {1.33, 1.1, 1.61}, {nan, nan, nan}}},
		},
	}
}

// parse reads an SVG drawing and returns its texts with where they begin and
// end, roughly, in pixels; it fails unless the drawing is well-formed.
func parse(t interface{ Fatalf(string, ...any) }, svg []byte) (texts []placed) {
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			p := placed{}
			for _, a := range start.Attr {
				switch a.Name.Local {
				case "x":
					p.x, _ = strconv.ParseFloat(a.Value, 64)
				case "y":
					p.y, _ = strconv.ParseFloat(a.Value, 64)
				case "text-anchor":
					p.anchor = a.Value
				}
			}
			token, err := decoder.Token()
			if data, ok := token.(xml.CharData); ok && err == nil {
				p.text = string(data)
			}
			texts = append(texts, p)
		}
	}
}

type placed struct {
	text, anchor string
	x, y         float64
}

// ends returns where the text begins and ends if a letter is 7.5 pixels wide.
func (p placed) ends() (left, right float64) {
	width := 7.5 * float64(len([]rune(p.text)))
	switch p.anchor {
	case "middle":
		return p.x - width/2, p.x + width/2
	case "end":
		return p.x - width, p.x
	}
	return p.x, p.x + width
}

func TestFiguresKeepTheirLetteringInside(t *testing.T) {
	t.Parallel()
	for name, figure := range figures(t) {
		for _, width := range []int{reports.NarrowWidth, reports.WideWidth} {
			t.Run(fmt.Sprint(name, " at ", width), func(t *testing.T) {
				t.Parallel()
				drawing := figure.Draw(width)
				if drawing.Width != float64(width) {
					t.Errorf("drawing is %v wide", drawing.Width)
				}
				for _, p := range parse(t, drawing.SVG) {
					left, right := p.ends()
					if left < -12 || right > drawing.Width+12 || p.y < 10 || p.y > drawing.Height {
						t.Errorf("%q lies from %.0f to %.0f at %.0f, outside %v x %v", p.text, left, right, p.y, drawing.Width, drawing.Height)
					}
				}
			})
		}
	}
}

func TestFiguresAreDeterministicAndAccessible(t *testing.T) {
	t.Parallel()
	again := figures(t)
	for name, figure := range figures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svg := figure.Draw(reports.WideWidth).SVG
			if !bytes.Equal(svg, again[name].Draw(reports.WideWidth).SVG) {
				t.Error("equal values give different bytes")
			}
			for _, want := range []string{`role="img"`, "<title>", "<desc>", `aria-label="`} {
				if !bytes.Contains(svg, []byte(want)) {
					t.Errorf("drawing lacks %s", want)
				}
			}
			table := figure.Table()
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf("row %q has %d cells, want %d", row[0], len(row), len(table.Columns))
				}
			}
			if len(table.Rows) == 0 {
				t.Error("table has no rows")
			}
		})
	}
}

func TestFrontierAsGolden(t *testing.T) {
	t.Parallel()
	const path = "testdata/frontier.svg"
	got := smallFrontier().Draw(320).SVG
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("drawing (-want +got), -update rewrites it:\n%s", diff)
	}
}

func TestTablesHoldTheNumbersOfTheDrawings(t *testing.T) {
	t.Parallel()
	nine := make([]float64, 0, 9)
	for i := range 9 {
		nine = append(nine, float64(9-i))
	}
	for name, test := range map[string]struct {
		figure reports.Figure
		want   [][]string
	}{
		// The constant lead falls by 1 per hour to (2, 3), then by 3/8; the
		// planner begins at 0.5 h and is flat from 3 h on.
		"frontier": {smallFrontier(), [][]string{
			{"constant lead", "4.50", "4.00", "3.00", "2.25", "0.75"},
			{"planner", "2.00", "1.70", "1.10", "0.50", "0.50"},
		}},
		"dots": {smallDots(), [][]string{
			{"constant lead", "0 %", "3.18 (2.50 to 4.00)"},
			{"planner", "67 % (51 to 80 %)", "1.33 (1.10 to 1.61)"},
			{"odd", "−700 % (– to −300 %)", "–"},
		}},
		"outcome": {
			reports.OutcomeCurve{
				Outcomes: []reports.LeadOutcome{{0, 5}, {6, -1}, {7, math.NaN()}},
				Forecast: []reports.LeadBand{{0, 2, 4, 8}, {6, -4, -2, 2}},
			},
			[][]string{{"0 h", "5.00", "4.00", "2.00", "8.00"}, {"6 h", "−1.00", "−2.00", "−4.00", "2.00"}},
		},
		"distribution": {
			reports.Distribution{Series: []reports.Sample{{Name: "nine", Waits: nine}, {Name: "none"}}},
			[][]string{
				{"nine", "5 h", "3 h", "5 h", "7 h", "9 h", "9 h"},
				{"none", "–", "–", "–", "–", "–", "–"},
			},
		},
		"calibration": {
			reports.Calibration{Series: []reports.CalibrationSeries{
				{Name: "trees", Levels: []float64{0.5, 0.9, 0.95}, Observed: []float64{0.42, 0.75}},
			}},
			[][]string{{"trees", "50 %", "42 %"}, {"trees", "90 %", "75 %"}},
		},
		"lines": {course(), [][]string{
			{"0", "–", "0.2", "–"},
			{"250", "–", "–", "0.3"},
			{"500", "0.1235", "0.15", "–"},
			{"1000", "0.1", "12.35", "–"},
		}},
		// 4 of 8 nodes are busy for a day, then 6 while 2 are out of service.
		"cluster": {
			reports.Cluster{Nodes: 8, Samples: []reports.ClusterSample{
				{At: day(2023, 1, 3)},
				{At: day(2023, 1, 1), Busy: 4, Requested: 3},
				{At: day(2023, 1, 2), Busy: 6, OutOfService: 2},
			}},
			[][]string{{"busy", "63 %"}, {"out of service", "13 %"}, {"idle", "25 %"}, {"nodes asked for by waiting jobs", "1.50"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.figure.Table().Rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// hostile draws values that figures must survive: not finite, huge, negative,
// and texts full of markup and control characters.
type hostile struct{ t *rapid.T }

func (h hostile) number() float64 {
	return rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Float64(), rapid.SampledFrom([]float64{
		0, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
	})).Draw(h.t, "number")
}

func (h hostile) text() string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "]]>", "&amp;", "\x00\x1b\ufffe", strings.Repeat("long ", 100), "",
	})).Draw(h.t, "text")
}

func (h hostile) time() segue.Time {
	return rapid.OneOf(
		rapid.Map(rapid.Int64Range(0, 2e9), segue.Seconds),
		rapid.SampledFrom([]segue.Time{segue.NoTime, segue.Never, 0, segue.NoTime + 1, segue.Never - 1}),
	).Draw(h.t, "time")
}

func (h hostile) count() int { return rapid.IntRange(0, 6).Draw(h.t, "count") }

func (h hostile) look() reports.Look { return reports.Look(rapid.IntRange(-5, 40).Draw(h.t, "look")) }

func (h hostile) numbers() []float64 {
	numbers := make([]float64, h.count())
	for i := range numbers {
		numbers[i] = h.number()
	}
	return numbers
}

func (h hostile) figure() reports.Figure {
	title := h.text()
	switch rapid.IntRange(0, 8).Draw(h.t, "figure") {
	case 0:
		f := reports.Frontier{Title: title, MaxOverlap: h.number()}
		for range h.count() {
			s := reports.FrontierSeries{Name: h.text(), Look: h.look()}
			for range h.count() {
				s.Points = append(s.Points, evaluation.Point{Overlap: h.number(), Interruption: h.number()})
			}
			s.Tuned = &evaluation.Point{Overlap: h.number(), Interruption: h.number()}
			f.Series = append(f.Series, s)
		}
		return f
	case 1:
		f := reports.OutcomeCurve{Title: title, ChosenBy: h.text(), Chosen: &reports.LeadOutcome{Lead: h.number(), Outcome: h.number()}}
		for range h.count() {
			f.Outcomes = append(f.Outcomes, reports.LeadOutcome{Lead: h.number(), Outcome: h.number()})
			f.Forecast = append(f.Forecast, reports.LeadBand{Lead: h.number(), Lo: h.number(), Middle: h.number(), Hi: h.number()})
		}
		return f
	case 2:
		f := reports.Timeline{Title: title, Until: h.time()}
		for range h.count() {
			f.Links = append(f.Links, reports.Link{Name: h.text(), Submit: h.time(), Start: h.time(), End: h.time()})
		}
		return f
	case 3:
		f := reports.Cluster{Title: title, Nodes: h.number()}
		for range h.count() {
			f.Samples = append(f.Samples, reports.ClusterSample{At: h.time(), Busy: h.number(), OutOfService: h.number(), Requested: h.number()})
		}
		return f
	case 4:
		f := reports.Dots{Title: title, SameScale: rapid.Bool().Draw(h.t, "same scale")}
		for range h.count() {
			f.Rows = append(f.Rows, reports.DotRow{Name: h.text(), Look: h.look()})
			p := reports.DotPanel{
				Title: h.text(), Axis: h.text(), Percent: rapid.Bool().Draw(h.t, "percent"), Least: h.number(),
				Marks: []reports.Mark{{Value: h.number(), Name: h.text()}},
			}
			for range h.count() {
				p.Values = append(p.Values, reports.Dot{Value: h.number(), Lo: h.number(), Hi: h.number()})
			}
			f.Panels = append(f.Panels, p)
		}
		return f
	case 5:
		f := reports.Distribution{Title: title}
		for range h.count() {
			f.Series = append(f.Series, reports.Sample{Name: h.text(), Look: h.look(), Waits: h.numbers()})
		}
		return f
	case 6:
		f := reports.Lines{Title: title, X: h.text()}
		for range h.count() {
			p := reports.LinePanel{Axis: h.text(), Percent: rapid.Bool().Draw(h.t, "percent")}
			for range h.count() {
				p.Series = append(p.Series, reports.LineSeries{Name: h.text(), Look: h.look(), X: h.numbers(), Y: h.numbers(), Best: h.number()})
			}
			f.Panels = append(f.Panels, p)
		}
		return f
	case 7:
		return reports.Band{
			Title: title, X: h.text(), Y: h.text(), Range: h.text(), Look: h.look(),
			At: h.numbers(), Lo: h.numbers(), Mid: h.numbers(), Hi: h.numbers(),
		}
	default:
		f := reports.Calibration{Title: title}
		for range h.count() {
			f.Series = append(f.Series, reports.CalibrationSeries{Name: h.text(), Look: h.look(), Levels: h.numbers(), Observed: h.numbers()})
		}
		return f
	}
}

func TestFiguresSurviveHostileValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		figure := hostile{t}.figure()
		for _, width := range []int{0, reports.NarrowWidth, reports.WideWidth} {
			drawing := figure.Draw(width)
			parse(t, drawing.SVG)
			for _, never := range []string{`="NaN`, `="+Inf`, `="-Inf`, "<script", "<img"} {
				if bytes.Contains(drawing.SVG, []byte(never)) {
					t.Fatalf("drawing holds %s:\n%s", never, drawing.SVG)
				}
			}
		}
		parse(t, reports.Standalone(figure, hostile{t}.text(), hostile{t}.text()))
		figure.Table()
	})
}
