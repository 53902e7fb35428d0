package traces

import (
	"bytes"
	"math"
	"time"

	"github.com/segue-project/segue"
)

// dialect is what distinguishes sacct -P from the Lonestar6 log: both are
// tables of sacct's columns.
type dialect struct {
	// header returns the names of the columns and the separator of the rows,
	// if the line is a header.
	header func(line []byte) (names []string, separator byte, ok bool)
	// assumed are the columns of a file without a header; nil if it must have
	// one.
	assumed []string
	// want says what a header looks like.
	want string
}

// tableParser reads the rows of a table.
type tableParser struct {
	dialect
	name      string
	head      *Header
	clock     *zoneClock
	columns   *columns // nil before the header
	separator byte
	// closed says that every row ends with a separator (sacct -p).
	closed bool
	before []byte // the first line before the header
	lines  int    // the number of lines before the header
	fields [][]byte
	texts  interner
}

func newTableParser(d dialect, name string, head *Header, zone *time.Location) *tableParser {
	return &tableParser{dialect: d, name: name, head: head, clock: newZoneClock(zone)}
}

// mostBanner is the number of lines in which the header must come.
const mostBanner = 200

// parse implements lineParser.
func (p *tableParser) parse(line []byte, rec *record) (Reason, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return noRecord, nil
	}
	if p.columns == nil {
		known, err := p.begin(line)
		if err != nil || !known {
			return noRecord, err
		}
	}
	reason := p.row(line, rec)
	if reason != TooFewColumns && reason != BadJobID {
		return reason, nil
	}
	if isRule(line) {
		return noRecord, nil
	}
	if names, separator, ok := p.header(line); ok {
		return noRecord, p.bind(names, separator)
	}
	return reason, nil
}

// begin looks for the header in line and reports whether line is a row
// already.
func (p *tableParser) begin(line []byte) (row bool, err error) {
	if names, separator, ok := p.header(line); ok {
		return false, p.bind(names, separator)
	}
	if p.assumed != nil && looksLikeLS6Row(line) {
		return true, p.bind(p.assumed, '\t')
	}
	if p.lines++; p.lines == 1 {
		p.before = bytes.Clone(line[:min(len(line), 200)])
	}
	if p.lines == mostBanner {
		return false, p.end(nil)
	}
	return false, nil
}

// end implements lineParser: a table without a header is none.
func (p *tableParser) end(*Report) error {
	if p.columns == nil {
		return segue.Errorf(segue.Invalid, "%s: no header line in the first %d lines: want %s; saw \"%s\"",
			p.name, max(p.lines, 1), p.want, printable(p.before, 80))
	}
	return nil
}

// bind takes the names of the columns and refuses a table that lacks some.
func (p *tableParser) bind(names []string, separator byte) error {
	p.closed = names[len(names)-1] == ""
	if p.closed {
		names = names[:len(names)-1]
	}
	columns := newColumns(names)
	if missing := columns.missing(); missing != nil {
		return segue.Errorf(segue.Invalid, "%s: the columns %s are missing; the header has %s.\nExport with: %s",
			p.name, list(missing), list(names), sacctCommand)
	}
	p.columns, p.separator = columns, separator
	p.head.Columns = names
	return nil
}

// row reads one row into rec.
func (p *tableParser) row(line []byte, rec *record) Reason {
	p.fields = cut(p.fields[:0], line, p.separator)
	n := len(p.columns.names)
	if p.closed && len(p.fields) > n && len(p.fields[len(p.fields)-1]) == 0 {
		p.fields = p.fields[:len(p.fields)-1]
	}
	switch {
	case len(p.fields) < n:
		return TooFewColumns
	case len(p.fields) > n:
		joined, ok := p.columns.join(p.fields, p.separator, p.clock)
		if !ok {
			return TooManyColumns
		}
		rec.notes.add(ColumnsJoined)
		p.fields = joined
	}
	for _, part := range [...]func(*tableParser, *record) Reason{
		(*tableParser).identity, (*tableParser).times, (*tableParser).limit, (*tableParser).resources, (*tableParser).outcome,
	} {
		if reason := part(p, rec); reason != usable {
			return reason
		}
	}
	return usable
}

// field returns the row's field of role r without spaces around it, nil where
// the table has no such column.
func (p *tableParser) field(r role) []byte {
	i := p.columns.at[r]
	if i < 0 {
		return nil
	}
	f := p.fields[i]
	if len(f) > 0 && (f[0] == ' ' || f[len(f)-1] == ' ') {
		f = bytes.Trim(f, " ")
	}
	return f
}

// bad returns reason with the column and the field that led to it.
func (p *tableParser) bad(rec *record, reason Reason, r role) Reason {
	return rec.reject(reason, p.columns.names[p.columns.at[r]], p.field(r))
}

func (p *tableParser) identity(rec *record) Reason {
	r := roleJobID
	if p.columns.at[r] < 0 {
		r = roleJobIDRaw
	}
	j := &rec.job
	var reason Reason
	j.ID, rec.tasks, reason = parseJobID(p.field(r))
	if reason != usable {
		return p.bad(rec, reason, r)
	}
	if i := p.columns.at[roleName]; i >= 0 {
		j.Name = p.texts.get(p.fields[i], &rec.notes)
	}
	user := p.field(roleUser)
	if len(user) == 0 {
		user = p.field(roleUID)
	}
	j.User = p.texts.get(user, &rec.notes)
	j.Account = p.texts.get(p.field(roleAccount), &rec.notes)
	j.Partition = p.texts.get(p.field(rolePartition), &rec.notes)
	j.QOS = p.texts.get(p.field(roleQOS), &rec.notes)
	return usable
}

func (p *tableParser) times(rec *record) Reason {
	for _, t := range [...]struct {
		role
		*moment
	}{{roleSubmit, &rec.submit}, {roleEligible, &rec.eligible}, {roleStart, &rec.start}, {roleEnd, &rec.end}} {
		if p.columns.at[t.role] < 0 {
			continue
		}
		var ok bool
		if *t.moment, ok = parseMoment(p.field(t.role), p.clock, &rec.notes); !ok {
			return p.bad(rec, BadTime, t.role)
		}
	}
	rec.endGiven = p.columns.at[roleEnd] >= 0
	if f := p.field(roleElapsedRaw); len(f) > 0 {
		seconds, ok := parseCount(f)
		if !ok || seconds > maxSeconds {
			return p.bad(rec, BadTime, roleElapsedRaw)
		}
		rec.elapsed = time.Duration(seconds) * time.Second
	} else if f := p.field(roleElapsed); len(f) > 0 {
		seconds, ok := segue.ParseClock(string(f))
		if !ok {
			return p.bad(rec, BadTime, roleElapsed)
		}
		rec.elapsed = time.Duration(seconds) * time.Second
	}
	return usable
}

// limit reads TimelimitRaw, which is in minutes, or else Timelimit.
func (p *tableParser) limit(rec *record) Reason {
	for _, r := range [...]role{roleLimitRaw, roleLimit} {
		if p.columns.at[r] < 0 {
			continue
		}
		d, ok := parseTableLimit(p.field(r))
		if !ok {
			return p.bad(rec, BadLimit, r)
		}
		if rec.job.Limit = d; d > 0 {
			break
		}
	}
	return usable
}

// parseTableLimit reads a limit as sacct prints it. Nothing, and
// Partition_Limit, are no limit of the job's own: 0.
func parseTableLimit(b []byte) (time.Duration, bool) {
	if len(b) == 0 || b[0] > '9' {
		if isUnknownWord(b) || equalFold(b, "Partition_Limit") {
			return 0, true
		}
		return segue.Unlimited, isUnlimited(b)
	}
	if len(b) >= len("4294967294") {
		switch v, _ := parseInt(b); v {
		case noValue:
			return 0, true
		case infinite:
			return segue.Unlimited, true
		}
	}
	return parseLimit(b)
}

func (p *tableParser) resources(rec *record) Reason {
	for _, c := range [...]struct {
		role
		*int64
	}{
		{roleNNodes, &rec.nodes.plain},
		{roleAllocNodes, &rec.nodes.given},
		{roleReqNodes, &rec.nodes.asked},
		{roleNCPUs, &rec.cpus.plain},
		{roleAllocCPUs, &rec.cpus.given},
		{roleReqCPUs, &rec.cpus.asked},
		{rolePriority, &rec.job.Priority},
	} {
		if p.columns.at[c.role] < 0 {
			continue
		}
		var ok bool
		if *c.int64, ok = parseCount(p.field(c.role)); !ok {
			return p.bad(rec, BadNumber, c.role)
		}
	}
	if p.columns.at[roleAllocTRES] >= 0 {
		t, ok := parseTRES(p.field(roleAllocTRES))
		if !ok {
			return p.bad(rec, BadNumber, roleAllocTRES)
		}
		rec.gpus.given = t.gpus
		rec.nodes.given = max(rec.nodes.given, t.nodes)
		rec.cpus.given = max(rec.cpus.given, t.cpus)
	}
	if p.columns.at[roleReqTRES] >= 0 {
		t, ok := parseTRES(p.field(roleReqTRES))
		if !ok {
			return p.bad(rec, BadNumber, roleReqTRES)
		}
		rec.gpus.asked = t.gpus
		rec.nodes.asked = max(rec.nodes.asked, t.nodes)
		rec.cpus.asked = max(rec.cpus.asked, t.cpus)
	}
	return usable
}

func (p *tableParser) outcome(rec *record) Reason {
	j := &rec.job
	var ok bool
	if j.ExitCode, j.Signal, ok = parseExitCode(p.field(roleExitCode)); !ok {
		return p.bad(rec, BadNumber, roleExitCode)
	}
	if f := p.field(roleRestarts); len(f) > 0 {
		n, ok := parseCount(f)
		if !ok {
			return p.bad(rec, BadNumber, roleRestarts)
		}
		j.Restarts = int16(min(n, math.MaxInt16))
	}
	if f := p.field(roleState); len(f) > 0 {
		rec.stateGiven = true
		if j.State, ok = parseState(f); !ok {
			rec.notes.add(UnknownState)
		}
	}
	return usable
}

// parseExitCode reads "status:signal" or "status"; nothing is 0:0.
func parseExitCode(b []byte) (code, signal int16, ok bool) {
	if len(b) == 3 && b[1] == ':' && b[0]-'0' <= 9 && b[2]-'0' <= 9 {
		return int16(b[0] - '0'), int16(b[2] - '0'), true
	}
	if len(b) == 0 {
		return 0, 0, true
	}
	status, after, _ := bytes.Cut(b, []byte(":"))
	c, ok := parseInt(status)
	s := int64(0)
	if ok && len(after) > 0 {
		s, ok = parseInt(after)
	}
	if !ok || c < 0 || c > math.MaxInt16 || s < 0 || s > math.MaxInt16 {
		return 0, 0, false
	}
	return int16(c), int16(s), true
}
