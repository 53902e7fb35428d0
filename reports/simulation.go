package reports

// Simulation is the picture of a simulated, or recorded, cluster over time.
type Simulation struct {
	Title string
	// Facts are sentences below the title: what was simulated, how long jobs
	// waited, which command drew it.
	Facts   []string
	Cluster Cluster
}

// SVG returns the picture as a file.
func (s Simulation) SVG() []byte { return Standalone(s.Cluster, s.Title, s.Facts...) }
