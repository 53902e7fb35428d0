package evaluation

// Load is how busy the queue was at a start, told by the wait of a successor
// that is submitted only when the predecessor ends. It is defined by the
// outcome, so no policy may use it.
type Load uint8

// The loads of Mirage (SC'23): a reactive wait of at most 2 h, of at most
// 12 h, and of more.
const (
	Light Load = iota
	Medium
	Heavy
)

// LoadOf returns the load of a start with the given reactive outcome in hours.
func LoadOf(reactive float64) Load {
	switch {
	case reactive <= 2:
		return Light
	case reactive <= 12:
		return Medium
	}
	return Heavy
}

// String returns "light", "medium" or "heavy".
func (l Load) String() string { return [...]string{"light", "medium", "heavy"}[min(l, Heavy)] }
