package reports

// decimate returns a line that looks the same on the given number of pixel
// columns: of the points in each column the first, the highest, the lowest and
// the last. The points ascend in x.
func decimate(points []at, columns int) []at {
	if len(points) <= 4*columns || columns < 1 {
		return points
	}
	left, right := points[0].x, points[len(points)-1].x
	column := func(p at) int {
		if right <= left {
			return 0
		}
		return min(int((p.x-left)/(right-left)*float64(columns)), columns-1)
	}
	var thin []at
	for lo := 0; lo < len(points); {
		hi := lo + 1
		highest, lowest := lo, lo
		for hi < len(points) && column(points[hi]) == column(points[lo]) {
			if points[hi].y < points[highest].y {
				highest = hi
			}
			if points[hi].y > points[lowest].y {
				lowest = hi
			}
			hi++
		}
		thin = append(thin, points[lo])
		for _, i := range []int{min(highest, lowest), max(highest, lowest)} {
			if i > lo && i < hi-1 {
				thin = append(thin, points[i])
			}
		}
		if hi-1 > lo {
			thin = append(thin, points[hi-1])
		}
		lo = hi
	}
	return thin
}

// evenly returns at most limit of the indices below n, evenly spaced, with
// both ends.
func evenly(n, limit int) []int {
	count := min(n, limit)
	indices := make([]int, count)
	for k := range indices {
		if count > 1 {
			indices[k] = k * (n - 1) / (count - 1)
		}
	}
	return indices
}
