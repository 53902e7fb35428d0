package provisioner

// MostLooks bounds Looks.
const MostLooks = mostLooks

// Looks is how many things are looked back at.
func (l *Live) Looks() int { return len(l.hindsights) }
