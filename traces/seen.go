package traces

import "github.com/segue-project/segue"

const (
	pageSize = 64
	// maxPages bounds the memory of job ids to about 40 MB; where ids are
	// dense it holds the last 8 million jobs.
	maxPages = 1 << 17
	// maxAgain bounds the memory of ids that were met more than once.
	maxAgain = 1 << 18
)

// seen remembers which attempts of which jobs have been met, four bytes a job,
// and forgets the pages of ids that it opened first when it holds too many. A
// job requeued keeps its id and gets a new submit time; a counter of ids that
// has wrapped gives an id to another job, most likely of another user.
type seen struct {
	pages  map[pageKey]*page
	order  []pageKey // the keys of pages in the order of their opening, a ring
	oldest int
	last   *page // the page looked at last
	lastAt pageKey
	again  map[segue.JobID][]mark // the later attempts of ids met more than once
}

type pageKey struct {
	number int64
	sub    int32
	kind   segue.JobIDKind
}

type page [pageSize]mark

// mark identifies an attempt: eight bits of its user, twelve of its submit
// time and twelve of its start time. 0 is none.
type mark uint32

// verdict says what a record is in the light of the records before it.
type verdict uint8

const (
	isNew       verdict = iota
	isRepeat            // the same attempt was met
	isAttempt           // another attempt of the same job was met
	isOtherUser         // a job of another user with the same id was met
)

func newSeen() *seen { return &seen{pages: make(map[pageKey]*page)} }

// see remembers the job and says what it is. The number of attempts of the
// same user met before is returned with isAttempt.
func (s *seen) see(j *segue.Job) (verdict, int16) {
	m := markOf(j)
	slot := s.slot(j.ID)
	if *slot == 0 {
		*slot = m
		return isNew, 0
	}
	attempts := int16(0)
	later := s.again[j.ID]
	for i := -1; i < len(later); i++ {
		old := *slot
		if i >= 0 {
			old = later[i]
		}
		if old.sameAttempt(m, j.Start.Known()) {
			return isRepeat, 0
		}
		if old.sameUser(m) {
			attempts++
		}
	}
	if len(s.again) < maxAgain && len(later) < 1000 {
		if s.again == nil {
			s.again = make(map[segue.JobID][]mark)
		}
		s.again[j.ID] = append(later, m)
	}
	if attempts == 0 {
		return isOtherUser, 0
	}
	return isAttempt, attempts
}

// slot returns the place of the id's mark, on a new page if need be.
func (s *seen) slot(id segue.JobID) *mark {
	key, at := pageKey{number: id.Number / pageSize, kind: id.Kind}, id.Number%pageSize
	if id.Kind != segue.PlainJob {
		key, at = pageKey{number: id.Number, sub: id.Sub / pageSize, kind: id.Kind}, int64(id.Sub%pageSize)
	}
	if s.last != nil && s.lastAt == key {
		return &s.last[at]
	}
	p := s.pages[key]
	if p == nil {
		p = s.open(key)
	}
	s.last, s.lastAt = p, key
	return &p[at]
}

func (s *seen) open(key pageKey) *page {
	if len(s.order) < maxPages {
		s.order = append(s.order, key)
		p := new(page)
		s.pages[key] = p
		return p
	}
	forgotten := s.order[s.oldest]
	p := s.pages[forgotten]
	delete(s.pages, forgotten)
	*p = page{}
	s.order[s.oldest] = key
	s.oldest = (s.oldest + 1) % maxPages
	s.pages[key] = p
	return p
}

func markOf(j *segue.Job) mark {
	m := eightBits(j.User)<<24 | twelveBits(j.Submit)<<12 | twelveBits(j.Start)
	if m == 0 {
		return 1
	}
	return m
}

// eightBits folds a name by FNV-1a.
func eightBits(name string) mark {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return mark(h>>24 ^ h>>16&0xff ^ h>>8&0xff ^ h&0xff)
}

// twelveBits folds an instant by Fibonacci hashing.
func twelveBits(t segue.Time) mark { return mark(uint64(t) * 0x9e3779b97f4a7c15 >> 52) }

func (m mark) sameUser(n mark) bool { return m>>24 == n>>24 }

// sameAttempt compares the start too if the later record has one.
func (m mark) sameAttempt(n mark, started bool) bool {
	if started {
		return m == n
	}
	return m>>12 == n>>12
}
