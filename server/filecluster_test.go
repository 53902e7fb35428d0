package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// fileCluster is a scheduler that several processes share: a folder with a file
// for each job. A job starts at once, and its limit ends it.
type fileCluster struct {
	dir string
	now func() segue.Time
}

// fileJob is the content of a file.
type fileJob struct {
	Token  string
	User   string
	Nodes  int
	Limit  time.Duration
	Submit segue.Time
}

func (f fileCluster) Name() string { return "files" }

func (f fileCluster) Capabilities(context.Context) (schedulers.Capabilities, error) {
	return schedulers.Capabilities{Version: "files 1", Cluster: "files"}, nil
}

func (f fileCluster) Submit(_ context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	text, err := json.Marshal(fileJob{s.Token, s.Request.User, s.Request.Nodes, s.Request.Limit, f.now()})
	if err != nil {
		return schedulers.Submitted{}, err
	}
	for n := int64(1); ; n++ {
		file, err := os.OpenFile(filepath.Join(f.dir, fmt.Sprintf("%d.json", n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return schedulers.Submitted{}, err
		}
		_, err = file.Write(text)
		return schedulers.Submitted{Job: segue.JobID{Number: n}}, errors.Join(err, file.Close())
	}
}

// jobs returns all jobs, by number.
func (f fileCluster) jobs() (map[segue.JobID]fileJob, error) {
	all := map[segue.JobID]fileJob{}
	for n := int64(1); ; n++ {
		text, err := os.ReadFile(filepath.Join(f.dir, fmt.Sprintf("%d.json", n)))
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		var j fileJob
		if len(text) == 0 || json.Unmarshal(text, &j) != nil {
			return nil, segue.Errorf(segue.Unavailable, "job %d is being written", n)
		}
		all[segue.JobID{Number: n}] = j
	}
}

func (f fileCluster) State(context.Context) (schedulers.State, error) {
	jobs, err := f.jobs()
	if err != nil {
		return schedulers.State{}, err
	}
	s := schedulers.State{At: f.now()}
	for i := range 4 {
		s.Nodes = append(s.Nodes, schedulers.Node{Name: fmt.Sprint("n", i), InService: true, Idle: true})
	}
	for id, j := range jobs {
		shown := schedulers.Job{
			QueuedJob: segue.QueuedJob{
				ID: id, Submit: j.Submit, Eligible: j.Submit, Start: j.Submit,
				Request: segue.Request{Shape: segue.Shape{Nodes: j.Nodes, Limit: j.Limit}, User: j.User},
			},
			State: segue.Running, EndTime: j.Submit.Add(j.Limit), Comment: j.Token,
		}
		if shown.EndTime <= s.At {
			shown.State = segue.Timeout
		}
		s.Jobs = append(s.Jobs, shown)
	}
	return s, nil
}

func (f fileCluster) FindByToken(_ context.Context, token string, _ segue.Time) ([]segue.JobID, error) {
	jobs, err := f.jobs()
	var found []segue.JobID
	for id, j := range jobs {
		if j.Token == token {
			found = append(found, id)
		}
	}
	return found, err
}

func (f fileCluster) Status(context.Context, []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	return nil, nil
}

func (f fileCluster) Cancel(context.Context, segue.JobID) error       { return nil }
func (f fileCluster) Hold(context.Context, segue.JobID) error         { return nil }
func (f fileCluster) Release(context.Context, segue.JobID) error      { return nil }
func (f fileCluster) Requeue(context.Context, []segue.JobID) error    { return nil }
func (f fileCluster) SetNice(context.Context, segue.JobID, int) error { return nil }
func (f fileCluster) Signal(context.Context, segue.JobID, syscall.Signal) error {
	return nil
}

// tokens returns the tokens of all jobs, in order.
func (f fileCluster) tokens() ([]string, error) {
	jobs, err := f.jobs()
	var all []string
	for _, j := range jobs {
		all = append(all, j.Token)
	}
	slices.Sort(all)
	return all, err
}
