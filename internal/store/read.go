package store

import (
	"context"
	"errors"
	"time"
)

var (
	errSlow   = errors.New("the storage did not answer within 250 ms")
	errBusy   = errors.New("too many reads of the storage are still unanswered")
	errPaused = errors.New("the storage failed several times and is left alone for now")
)

// A Found is a stored record and the body of its current answer.
type Found struct {
	Record Record
	Body   []byte
}

// Recall returns what is stored of an origin, if it was confirmed after the
// given time. It takes at most 250 ms: a storage that is slower has nothing.
func (s *Store) Recall(origin, token string, after time.Time) (Found, error) {
	return bounded(s, func(ctx context.Context) (Found, error) {
		r, err := s.Record(ctx, origin, token)
		if err == nil && !r.UpdatedAt.After(after) {
			err = ErrNotFound
		}
		if err != nil || r.Current == nil || r.Current.Unavailable {
			return Found{Record: r}, err
		}
		body, err := s.Body(ctx, r.Current.SHA256)
		return Found{r, body}, err
	})
}

// RecallBody is Body, within the same 250 ms.
func (s *Store) RecallBody(sum string) ([]byte, error) {
	return bounded(s, func(ctx context.Context) ([]byte, error) { return s.Body(ctx, sum) })
}

// bounded runs a read that the caller waits for 250 ms at most. The read
// itself goes on, as storage takes no deadline; how many do is bounded.
func bounded[T any](s *Store, read func(context.Context) (T, error)) (T, error) {
	var none T
	if int64(time.Since(s.began)) < s.pausedTo.Load() {
		return none, errPaused
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	select {
	case s.reads <- struct{}{}:
	case <-ctx.Done():
		return none, s.trip(errBusy)
	}
	type outcome struct {
		value T
		err   error
	}
	result := make(chan outcome, 1)
	go func() {
		defer func() { <-s.reads }()
		value, err := read(ctx)
		result <- outcome{value, err}
	}()
	select {
	case got := <-result:
		if got.err == nil || errors.Is(got.err, ErrNotFound) || errors.Is(got.err, errDamaged) {
			s.failures.Store(0)
			return got.value, got.err
		}
		return none, s.trip(got.err)
	case <-ctx.Done():
		return none, s.trip(errSlow)
	}
}

// trip counts a failed read; several in a row give the storage a pause.
func (s *Store) trip(err error) error {
	if errors.Is(err, errSlow) || errors.Is(err, errBusy) {
		s.config.OnError(OpLoad, err)
	}
	if s.failures.Add(1)%tripAfter == 0 {
		s.pausedTo.Store(int64(time.Since(s.began) + tripPause))
	}
	return err
}
