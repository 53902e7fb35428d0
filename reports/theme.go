package reports

import "strconv"

// theme holds the colours of drawings and pages, for light and for dark
// surroundings. The series colours are those of Okabe and Ito (2008), made
// darker or lighter until they stand out from the paper by 3:1.
const theme = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59636e;--rule:#e1e5ea;--base:#8c959f;--tint:#f5f7f9;
--c0:#0072b2;--c1:#d55e00;--c2:#00875f;--c3:#b3508a;--c4:#a97400;--c5:#2a8ec4;--c6:#6b5fb5;
--gap:#c8321c;--overlap:#c98500;--run:#0072b2;--queue:#7c8894;--out:#9aa4ae}
@media(prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6e9ec;--soft:#a3adb8;--rule:#2b323a;--base:#6d7883;--tint:#1c2229;
--c0:#58b4ee;--c1:#f08445;--c2:#35c08f;--c3:#dd8fbc;--c4:#e3ad33;--c5:#86cdf2;--c6:#aaa2ea;
--gap:#ff6b57;--overlap:#eab040;--run:#3f9fdd;--queue:#93a0ac;--out:#5d6772}}
`

// figureStyle says how the classes of drawings look.
const figureStyle = `
.figure{font:13px/1.3 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.figure text{fill:var(--ink)}
.figure .tick,.figure .axis,.figure .note{fill:var(--soft)}
.figure .strong{font-weight:600}
.figure .heading{font-size:19px;font-weight:600}
.figure .paper{fill:var(--paper)}
.figure .rule{stroke:var(--rule)}
.figure .base{stroke:var(--base)}
.figure .zero{stroke:var(--ink)}
.figure .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.figure .mark{stroke:var(--ink);stroke-dasharray:3 3}
.figure .curve{fill:none;stroke:var(--s);stroke-width:2.2;stroke-linejoin:round}
.figure .dashed{stroke-dasharray:7 4}
.figure .dotted{stroke-dasharray:2 3}
.figure .whisker{stroke:var(--s);stroke-width:2}
.figure .dot{fill:var(--s);stroke:var(--paper);stroke-width:1.2}
.figure .band{fill:var(--s);opacity:.2}
.figure .area{fill:var(--s);opacity:.8}
.figure .wash{fill:var(--s);opacity:.09}
.figure .bar{fill:var(--s)}
.figure .hatch{stroke:var(--s)}
.figure .word{fill:var(--s);font-weight:600}
.s0{--s:var(--c0)}.s1{--s:var(--c1)}.s2{--s:var(--c2)}.s3{--s:var(--c3)}.s4{--s:var(--c4)}.s5{--s:var(--c5)}.s6{--s:var(--c6)}
.constant{--s:var(--soft)}.oracle{--s:var(--ink)}
.gap{--s:var(--gap)}.overlap{--s:var(--overlap)}.run{--s:var(--run)}.queue{--s:var(--queue)}.out{--s:var(--out)}
`

// Style is the style sheet of drawings, for pages that are not of this package:
// the colours, for light and dark surroundings, and what the classes look like.
func Style() string { return theme + figureStyle }

// seriesColours is the number of different series colours.
const seriesColours = 7

// Look is how a series is drawn: its colour, the shape of its markers and the
// dash of its lines. The same look means the same thing in all figures of a
// page.
type Look int

// Looks of the yardsticks; the policies have the looks 0, 1, 2, ...
const (
	ConstantLook Look = -1
	OracleLook   Look = -2
)

func (l Look) class() string {
	switch l {
	case ConstantLook:
		return "constant"
	case OracleLook:
		return "oracle"
	}
	return "s" + strconv.Itoa(l.slot()%seriesColours)
}

// dash tells lines of the same colour apart.
func (l Look) dash() string {
	if l == ConstantLook {
		return " dashed"
	}
	return [...]string{"", " dotted", " dashed"}[l.slot()/seriesColours%3]
}

// shape tells markers apart without colour.
func (l Look) shape() int { return l.slot() }

func (l Look) slot() int { return max(int(l), 0) }
