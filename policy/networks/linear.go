package networks

// linear is an affine map: a weight row per output, and a bias.
type linear struct {
	inputs  int
	weights []float32
	bias    []float32
}

// apply puts the map of x into y. Four rows at once keep four sums in flight
// and load every input once for them.
func (l linear) apply(y, x []float32) {
	n := l.inputs
	x = x[:n]
	y = y[:len(l.bias)]
	o := 0
	for ; o+4 <= len(y); o += 4 {
		r0 := l.weights[o*n:][:len(x)]
		r1 := l.weights[(o+1)*n:][:len(x)]
		r2 := l.weights[(o+2)*n:][:len(x)]
		r3 := l.weights[(o+3)*n:][:len(x)]
		var s0, s1, s2, s3 float32
		for i, v := range x {
			s0 += r0[i] * v
			s1 += r1[i] * v
			s2 += r2[i] * v
			s3 += r3[i] * v
		}
		y[o] = s0 + l.bias[o]
		y[o+1] = s1 + l.bias[o+1]
		y[o+2] = s2 + l.bias[o+2]
		y[o+3] = s3 + l.bias[o+3]
	}
	for ; o < len(y); o++ {
		y[o] = dot(l.weights[o*n:][:len(x)], x) + l.bias[o]
	}
}

// dot is the scalar product of two rows of the same length.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// rectify sets what is negative to zero.
func rectify(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}
