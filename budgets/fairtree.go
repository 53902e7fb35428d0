package budgets

import (
	"math"
	"slices"
)

// Factors writes each user's fair-share factor by Fair Tree to out, whose
// length is t.Users(): rank / number of users, in (0, 1], 1 for the user who is
// served next. Usage must belong to t.
//
// The rules are those of Slurm's fair_tree page. Among siblings the level fair
// share is LF = S/U, S being the share among the siblings and U the part of the
// parent's usage. Siblings are visited by descending LF, depth first, and each
// user takes the next rank, counting down from the number of users. Ties:
//
//   - sibling users with the same LF receive the same rank;
//   - a user with the same LF as a sibling account receives the same rank as
//     that account's highest ranked user;
//   - sibling accounts with the same LF have their lists of children merged.
//
// LF is 0 without shares, +Inf without usage or with SharesParent. Slurm's own
// code does not reach the third rule; this is the documented one.
func (t *Tree) Factors(usage *Usage, out []float64) {
	if usage.tree != t || len(out) != t.Users() {
		panic("budgets: Factors wants a usage of this tree and one place per user")
	}
	t.levelFairShares(usage)
	r := ranking{tree: t, level: usage.level, order: usage.order, out: out, next: t.Users()}
	n := copy(r.order, t.childrenOf(root))
	r.rank(0, n, 0)
}

func (t *Tree) levelFairShares(u *Usage) {
	for n := int32(1); n < int32(len(t.parent)); n++ {
		u.level[n] = levelFairShare(t.share[n], u.nodes[n], u.nodes[t.parent[n]], t.inherits[n])
	}
}

func levelFairShare(share, usage, parentUsage float64, inherits bool) float64 {
	switch {
	case inherits:
		return math.Inf(1)
	case share == 0:
		return 0
	case usage == 0:
		return math.Inf(1)
	}
	return share / (usage / parentUsage)
}

// ranking is one walk over the tree. order is a stack of sibling lists: each
// node is on it at most once, so it never outgrows the tree.
type ranking struct {
	tree  *Tree
	level []float64
	order []int32
	out   []float64
	next  int // rank of the next user who is not tied
}

// rank ranks the siblings order[lo:hi]. A tied rank above 0 is the rank of a
// user above who is tied with the account of these siblings: it goes to the
// first users found here.
func (r *ranking) rank(lo, hi, tied int) {
	r.sort(r.order[lo:hi])
	for lo < hi {
		end := r.tieEnd(lo, hi)
		unranked := r.next
		accounts := r.rankUsers(lo, end, tied)
		if r.next < unranked && tied == 0 {
			tied = unranked
		}
		if accounts < end {
			r.rank(hi, r.push(hi, r.order[accounts:end]), tied)
		}
		if r.next < unranked {
			tied = 0
		}
		lo = end
	}
}

// rankUsers gives the users at the head of order[lo:end] the tied rank, or the
// next one if there is none, and returns where the accounts begin.
func (r *ranking) rankUsers(lo, end, tied int) int {
	rank := r.next
	if tied > 0 {
		rank = tied
	}
	for lo < end && r.tree.isUser(r.order[lo]) {
		r.out[r.order[lo]-r.tree.firstUser] = float64(rank) / float64(len(r.out))
		r.next--
		lo++
	}
	return lo
}

// push merges the children of tied accounts onto the stack at top and returns
// its new top.
func (r *ranking) push(top int, accounts []int32) int {
	for _, a := range accounts {
		top += copy(r.order[top:], r.tree.childrenOf(a))
	}
	return top
}

// sort orders siblings by descending level fair share, users before accounts.
func (r *ranking) sort(siblings []int32) {
	slices.SortFunc(siblings, func(a, b int32) int {
		switch {
		case r.level[a] > r.level[b]:
			return -1
		case r.level[a] < r.level[b]:
			return 1
		}
		return int(b - a) // users have the higher numbers
	})
}

// tieEnd returns the end of the run of siblings that are tied with order[lo].
func (r *ranking) tieEnd(lo, hi int) int {
	end := lo + 1
	for end < hi && r.level[r.order[end]] == r.level[r.order[lo]] {
		end++
	}
	return end
}
