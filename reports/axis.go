package reports

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/segue-project/segue"
)

// axis maps values from lo to hi onto [0, 1] and carries its ticks.
type axis struct {
	title  string
	lo, hi float64
	ticks  []tick
	log    bool
}

type tick struct {
	value float64
	label string
}

// share returns where v lies on the axis, cut to its ends.
func (a axis) share(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(max(v, a.lo))
	}
	if hi <= lo {
		return 0
	}
	return min(max((v-lo)/(hi-lo), 0), 1)
}

// linearAxis covers lo to hi with about count round ticks; the ends move
// outward to ticks.
func linearAxis(title string, lo, hi float64, count int) axis {
	lo, hi = sound(lo, hi)
	return stepAxis(title, lo, hi, niceStep((hi-lo)/float64(max(count, 1))))
}

// hourAxis is a linearAxis whose steps are round in hours and days.
func hourAxis(title string, lo, hi float64, count int) axis {
	lo, hi = sound(lo, hi)
	rough := (hi - lo) / float64(max(count, 1))
	for _, step := range []float64{0.1, 0.25, 0.5, 1, 2, 4, 6, 12, 24, 48} {
		if rough <= step && rough > 0.05 {
			return stepAxis(title, lo, hi, step)
		}
	}
	return stepAxis(title, lo, hi, niceStep(rough))
}

// sound returns an interval of finite, different ends that are small enough to
// compute with.
func sound(lo, hi float64) (float64, float64) {
	const far = 1e12
	if !finite(lo) {
		lo = 0
	}
	if !finite(hi) {
		hi = lo + 1
	}
	lo, hi = min(max(lo, -far), far), min(max(hi, -far), far)
	if hi-lo < 1e-9*max(1, math.Abs(lo)) {
		hi = lo + max(1, math.Abs(lo))
	}
	return lo, hi
}

// niceStep returns the next of 1, 2 and 5 times a power of ten.
func niceStep(rough float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5} {
		if rough <= factor*power*(1+1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

func stepAxis(title string, lo, hi, step float64) axis {
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	a := axis{title: title, lo: first * step, hi: last * step}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if step == 0.25 {
		digits = 2
	}
	for i := first; i <= last; i++ {
		label := "0"
		if i != 0 {
			label = minus(strconv.FormatFloat(i*step, 'f', digits, 64))
		}
		a.ticks = append(a.ticks, tick{value: i*step + 0, label: label})
	}
	return a
}

// within narrows the axis to lo to hi and leaves out the ticks beyond.
func (a axis) within(lo, hi float64) axis {
	lo, hi = sound(lo, hi)
	slack := (hi - lo) * 1e-9
	a.lo, a.hi = lo, hi
	a.ticks = slices.DeleteFunc(a.ticks, func(t tick) bool { return t.value < lo-slack || t.value > hi+slack })
	return a
}

// waitAxis is logarithmic in hours, from a minute, with ticks at round waits.
func waitAxis(title string, hi float64) axis {
	a := axis{title: title, lo: 1.0 / 60, hi: 1, log: true}
	if finite(hi) {
		a.hi = max(hi, 1)
	}
	for _, t := range []tick{
		{1.0 / 60, "1 min"},
		{10.0 / 60, "10 min"},
		{1, "1 h"},
		{6, "6 h"},
		{24, "1 d"},
		{96, "4 d"},
		{24 * 16, "16 d"},
		{24 * 64, "64 d"},
	} {
		if t.value <= a.hi*1.0001 {
			a.ticks = append(a.ticks, t)
		}
	}
	return a
}

// timeAxis covers from to to, in hours after from, with ticks at calendar
// steps (UTC) that leave room for about count labels.
func timeAxis(from, to segue.Time, count int) axis {
	span := max(to.Sub(from).Hours(), 1.0/60)
	a := axis{title: "UTC, " + from.Std().Format("2 Jan 2006") + " to " + to.Std().Format("2 Jan 2006"), hi: span}
	step := calendarStep(span / float64(max(count, 1)))
	start := from.Std()
	for t := step.floor(start); ; t = step.next(t) {
		value := float64(t.Unix()-start.Unix()) / 3600 // t.Sub would saturate at 292 years
		if value > span {
			return a
		}
		if value >= 0 {
			a.ticks = append(a.ticks, tick{value: value, label: step.label(t)})
		}
	}
}

// calendar is a step of a time axis: a number of hours that divides a day, of
// days, or of months.
type calendar struct{ hours, days, months int }

// calendarStep returns the shortest step of at least the given hours.
func calendarStep(least float64) calendar {
	for _, h := range []int{1, 3, 6, 12} {
		if float64(h) >= least {
			return calendar{hours: h}
		}
	}
	for _, d := range []int{1, 2, 4, 7, 14} {
		if float64(d*24) >= least {
			return calendar{days: d}
		}
	}
	for _, m := range []int{1, 3, 6, 12} {
		if float64(m*24*28) >= least {
			return calendar{months: m}
		}
	}
	return calendar{months: 12 * int(math.Ceil(least/24/365))}
}

func (c calendar) floor(t time.Time) time.Time {
	if c.months > 0 {
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.Truncate(24 * time.Hour)
}

func (c calendar) next(t time.Time) time.Time {
	return t.AddDate(0, c.months, c.days).Add(time.Duration(c.hours) * time.Hour)
}

func (c calendar) label(t time.Time) string {
	switch {
	case c.months > 0:
		return t.Format("Jan 2006")
	case c.hours > 0 && t.Hour() != 0:
		return t.Format("15:04")
	}
	return t.Format("2 Jan")
}
