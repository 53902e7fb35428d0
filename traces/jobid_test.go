package traces

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestJobIDsAreReadAsSacctPrintsThem(t *testing.T) {
	t.Parallel()
	type want struct {
		ID     segue.JobID
		Tasks  []int32
		Reason Reason
	}
	plain := segue.JobID{Number: 123}
	task := segue.JobID{Number: 123, Kind: segue.ArrayTask}
	for s, w := range map[string]want{
		"123":                  {ID: plain},
		"123_4":                {ID: segue.JobID{Number: 123, Sub: 4, Kind: segue.ArrayTask}},
		"123+1":                {ID: segue.JobID{Number: 123, Sub: 1, Kind: segue.HetComponent}},
		"123_[3-5]":            {ID: task, Tasks: []int32{3, 4, 5}},
		"123_[3-4%2]":          {ID: task, Tasks: []int32{3, 4}},
		"123_[7]":              {ID: task, Tasks: []int32{7}},
		"123_[1,3,5-9:2%4]":    {ID: task, Tasks: []int32{1, 3, 5, 7, 9}},
		"123_[2147483647]":     {ID: task, Tasks: []int32{2147483647}},
		"123.batch":            {Reason: JobStep},
		"123.0":                {Reason: JobStep},
		"123_4.extern":         {Reason: JobStep},
		"123+1.batch":          {Reason: JobStep},
		"":                     {Reason: BadJobID},
		"abc":                  {Reason: BadJobID},
		"123x":                 {Reason: BadJobID},
		"-5":                   {Reason: BadJobID},
		"123_":                 {Reason: BadJobID},
		"123_x":                {Reason: BadJobID},
		"123_4+1":              {Reason: BadJobID},
		"123_2147483648":       {Reason: BadJobID},
		"99999999999999999999": {Reason: BadJobID},
		"123_[":                {Reason: BadJobID},
		"123_[]":               {Reason: BadArray},
		"123_[5-3]":            {Reason: BadArray},
		"123_[1,...]":          {Reason: BadArray},
		"123_[1-3:0]":          {Reason: BadArray},
		"123_[1-3%x]":          {Reason: BadArray},
		"123_[0-100000]":       {Reason: BadArray},
		"123_[0-2147483647]":   {Reason: BadArray},
	} {
		id, tasks, reason := parseJobID([]byte(s))
		got := want{Reason: reason}
		if reason == usable {
			got.ID = id
			for task, ok := tasks.next(); ok; task, ok = tasks.next() {
				got.Tasks = append(got.Tasks, task)
			}
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	}
}

func TestGPUsAreNeverCountedTwice(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]tres{
		"": {},
		"billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=64G,node=1":  {nodes: 1, cpus: 8, gpus: 4},
		"billing=8,cpu=8,gres/gpu:a100=4,mem=64G,node=1":             {nodes: 1, cpus: 8, gpus: 4},
		"cpu=8,gres/gpu=4,node=2":                                    {nodes: 2, cpus: 8, gpus: 4},
		"gres/gpu:a100=2,gres/gpu:v100=3":                            {gpus: 5},
		"gres/gpu:a100_1g.5gb=2,gres/gpu=2,gres/gpu:a100=1":          {gpus: 3},
		"gres/gpumem=80G,gres/gpuutil=90,gres/shard=4,gres/gpu=1":    {gpus: 1},
		"cpu=1K,energy=12345678901234567890,fs/disk=1,license/ansys": {cpus: -1},
		"node":          {cpus: -1},
		"gres/gpu=many": {cpus: -1},
	} {
		got, ok := parseTRES([]byte(s))
		if !ok {
			got = tres{cpus: -1}
		}
		if got != want {
			t.Errorf("%q is %+v, want %+v", s, got, want)
		}
	}
}
