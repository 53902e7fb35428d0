package budgets

import "math"

// ClassicFactors writes each user's classic fair-share factor (Slurm with
// NO_FAIR_TREE) to out, whose length is t.Users(): F = 2^(-UE/(S*d)), in
// [0, 1], 0.5 when a user used just its share. Usage must belong to t; dampening
// is FairShareDampeningFactor, 1 when it is not positive.
//
// S is the product of the shares from the user up. UE, the effective usage, is
// the part of all usage for children of the root, and below them
// UE = UA + (UE_parent - UA)*S_child/S_siblings, UA being the node's own part of
// all usage. A user with SharesParent takes S and UE of its account; one without
// shares has F = 0.
func (t *Tree) ClassicFactors(usage *Usage, dampening float64, out []float64) {
	if usage.tree != t || len(out) != t.Users() {
		panic("budgets: ClassicFactors wants a usage of this tree and one place per user")
	}
	if !(dampening > 0) {
		dampening = 1
	}
	for i := range out {
		shares, effective := t.classicTerms(usage, t.firstUser+int32(i))
		out[i] = 0
		if shares > 0 {
			out[i] = math.Exp2(-effective / shares / dampening)
		}
	}
}

// classicTerms returns the normalised shares and the effective usage of a node.
// The recursion is as deep as the tree of accounts.
func (t *Tree) classicTerms(u *Usage, n int32) (shares, effective float64) {
	if n == root {
		return 1, t.actualUsage(u, root)
	}
	shares, effective = t.classicTerms(u, t.parent[n])
	if t.inherits[n] {
		return shares, effective
	}
	actual := t.actualUsage(u, n)
	if t.parent[n] == root {
		return shares * t.share[n], actual
	}
	return shares * t.share[n], actual + (effective-actual)*t.share[n]
}

// actualUsage returns the node's part of all usage.
func (t *Tree) actualUsage(u *Usage, n int32) float64 {
	if u.nodes[root] == 0 {
		return 0
	}
	return u.nodes[n] / u.nodes[root]
}
