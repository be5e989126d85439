package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

const (
	// firstPrune lets a gate that starts serve first.
	firstPrune = time.Hour
	pruneEvery = 24 * time.Hour
	// prunePause is the breath between two directories of keys.
	prunePause = time.Second
)

// pruneDaily prunes once a day until the store stops.
func (s *Store) pruneDaily() {
	for wait := firstPrune; s.sleep(wait); wait = pruneEvery {
		s.keepPolicies()
		if err := s.Prune(context.Background(), func() bool { return s.sleep(prunePause) }); err != nil {
			s.config.OnError(OpPrune, err)
		}
	}
}

// keepPolicies writes the policies in force again, so that pruning sees that
// they are in use.
func (s *Store) keepPolicies() {
	s.mu.Lock()
	inForce := maps.Clone(s.policies)
	s.mu.Unlock()
	for name, policy := range inForce {
		s.PutPolicy(name, policy)
	}
}

// sleep reports whether the store still runs after a time.
func (s *Store) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}

// kept is how long a value stays after it was last written. What is in use is
// written again after an eighth of the archive time, or when the origin that
// was unreachable answers again.
func (s *Store) kept() time.Duration {
	return s.config.Archive + s.config.Archive/8 + s.config.Stale + 48*time.Hour
}

// Prune deletes what nobody has used for the archive time. Between two of the
// some 500 directories it calls pause, and ends early when that says no.
func (s *Store) Prune(ctx context.Context, pause func() bool) error {
	var failures []error
	directories := []string{Prefix + "/policies"}
	for i := range 256 {
		directories = append(directories, fmt.Sprintf("%s/origins/%02x", Prefix, i), fmt.Sprintf("%s/bodies/%02x", Prefix, i))
	}
	for _, directory := range directories {
		if err := s.pruneDirectory(ctx, directory); err != nil {
			failures = append(failures, err)
		}
		if !pause() {
			break
		}
	}
	return errors.Join(failures...)
}

func (s *Store) pruneDirectory(ctx context.Context, directory string) error {
	keys, err := s.backend.List(ctx, directory, false)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", directory, err)
	}
	oldest := time.Now().Add(-s.kept())
	for _, key := range keys {
		info, err := s.backend.Stat(ctx, key)
		if errors.Is(err, ErrNotFound) || err == nil && !info.Modified.Before(oldest) {
			continue
		}
		if err == nil {
			err = s.backend.Delete(ctx, key)
		}
		if err != nil {
			return fmt.Errorf("pruning %s: %w", key, err)
		}
	}
	return nil
}
