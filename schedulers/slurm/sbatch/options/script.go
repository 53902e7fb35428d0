package options

// ScriptPaths returns where sbatch looks for a script of that name, in order;
// it takes the first that can be read. A name that begins with "/" or "." is one
// path. Any other is looked for in the folder of --chdir if that is on the
// command line, in those of PATH, and in the working directory, which comes
// first without --chdir. Paths are relative to the working directory.
func ScriptPaths(name, chdir, searchPath string) []string {
	switch {
	case name == "":
		return nil
	case name[0] == '/' || name[0] == '.':
		return []string{name}
	}
	first := name
	if chdir != "" {
		first = chdir + "/" + name
	}
	paths := []string{first}
	for _, folder := range Folders(searchPath) {
		paths = append(paths, folder+"/"+name)
	}
	return append(paths, name)
}

// Folders returns the folders of PATH, without empty ones.
func Folders(searchPath string) []string {
	var folders []string
	from := 0
	for i := 0; i <= len(searchPath); i++ {
		if i == len(searchPath) || searchPath[i] == ':' {
			if i > from {
				folders = append(folders, searchPath[from:i])
			}
			from = i + 1
		}
	}
	return folders
}
