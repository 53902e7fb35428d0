package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/schedulers"
)

// followEvery is the time between two looks at which model promotions have chosen:
// another server, a training or a command may have promoted one.
const followEvery = 5 * time.Second

// following is what became of following promotions.
type following struct {
	mu   sync.Mutex
	want string // the model that is to decide and cannot be read; empty where all is well
}

func (f *following) missed() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.want
}

// miss notes the model that cannot be read, empty for none, and reports whether that
// is news.
func (f *following) miss(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	news := f.want != id
	f.want = id
	return news
}

// follow lets the model decide that promotions have chosen, whoever made them, until
// ctx ends.
func (s *Server) follow(ctx context.Context) {
	s.followOnce() // a champion that could not be read at the start is missed from now on
	for schedulers.Sleep(ctx, followEvery) == nil {
		s.followOnce()
	}
}

// followOnce looks once. A model that cannot be read is told once, and the one before
// it goes on deciding.
func (s *Server) followOnce() {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	if s.champion == nil || s.models.dir == "" {
		s.following.miss("")
		return
	}
	id, err := models.NewRegistry(s.models.dir, s.cfg.Now).Champion()
	if err != nil && segue.KindOf(err) != segue.NotFound {
		if s.following.miss("the champion") {
			s.cfg.Log.Warn("promotions cannot be followed", "error", err)
		}
		return
	}
	was := s.models.decides()
	if id == was {
		s.following.miss("")
		return
	}
	if err := s.useChampion(); err != nil {
		if s.following.miss(id) {
			s.cfg.Log.Error("the model before it goes on deciding", "error", err, "model", id)
		}
		return
	}
	s.following.miss("")
	s.cfg.Log.Info("another model decides", "model", s.models.decides(), "before", was)
}

// FollowChampion lets the model decide that promotions have chosen by now, where
// the server is to follow them. It need not be called: within seconds a server
// follows by itself.
func (s *Server) FollowChampion() error {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	return s.useChampion()
}

// useChampion is for who holds deciding.
func (s *Server) useChampion() error {
	if s.champion == nil {
		return nil
	}
	model, err := s.champion()
	if err != nil {
		return fmt.Errorf("the champion cannot be read: %w", err)
	}
	s.use(model)
	return nil
}
