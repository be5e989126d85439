package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// job is a write that waits for its turn.
type job struct {
	size int
	run  func(context.Context) error
	done func(error)
}

var errQueueFull = errors.New("the queue to the storage is full: it is too slow or hangs")

// Start begins to write and to prune.
func (s *Store) Start() {
	for range writers {
		s.work.Go(s.write)
	}
	s.work.Go(s.pruneDaily)
}

// Stop ends it, after what waits has been written or two seconds have passed.
// It is called once, after Start.
func (s *Store) Stop() {
	close(s.stop)
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(flushTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// enqueue queues a write, or drops it where too much waits already.
func (s *Store) enqueue(j job) {
	if s.queuedBytes.Add(int64(j.size)) > maxQueueBytes {
		s.drop(j)
		return
	}
	select {
	case s.queue <- j:
	default:
		s.drop(j)
	}
}

func (s *Store) drop(j job) {
	s.queuedBytes.Add(-int64(j.size))
	s.config.OnError(OpDropped, errQueueFull)
	if j.done != nil {
		j.done(errQueueFull)
	}
}

// write works the queue off, and what is left of it after Stop.
func (s *Store) write() {
	for {
		select {
		case j := <-s.queue:
			s.do(j)
		case <-s.stop:
			s.flush()
			return
		}
	}
}

func (s *Store) flush() {
	for {
		select {
		case j := <-s.queue:
			s.do(j)
		default:
			return
		}
	}
}

func (s *Store) do(j job) {
	err := j.run(context.Background())
	s.queuedBytes.Add(-int64(j.size))
	s.failed(OpStore, err)
	if j.done != nil {
		j.done(err)
	}
}

// Save stores a record with the body of its current answer, nil where the body
// was stored before. It returns at once; archived is called when the body is
// safely in storage, or with an error.
func (s *Store) Save(r Record, body []byte, archived func(error)) {
	s.enqueue(job{
		size: len(body) + 1024, done: archived,
		run: func(ctx context.Context) error { return s.save(ctx, r, body) },
	})
}

// PutBody archives a body that no origin gave, such as the file of an override,
// under its SHA-256. It returns at once; archived is called when the body is
// safely in storage, or with an error.
func (s *Store) PutBody(sum string, body []byte, archived func(error)) {
	s.enqueue(job{
		size: len(body), done: archived,
		run: func(ctx context.Context) error { return s.saveBody(ctx, sum, body) },
	})
}

// save writes the body first: a record must never name a body that is not
// there.
func (s *Store) save(ctx context.Context, r Record, body []byte) error {
	if r.Current != nil && !r.Current.Unavailable {
		if err := s.saveBody(ctx, r.Current.SHA256, body); err != nil {
			return fmt.Errorf("storing the robots.txt body of %s: %w", r.Origin, err)
		}
	}
	return s.update(ctx, r.Origin, r.Token, func(stored Record) Record {
		return merge(stored, r, s.config.Archive, time.Now())
	})
}

// update changes a stored record. Gates that write the same one at the same
// time may lose a span of its history, never a body.
func (s *Store) update(ctx context.Context, origin, token string, change func(Record) Record) error {
	stored, err := s.Record(ctx, origin, token)
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, errDamaged) {
		return err
	}
	data, err := json.Marshal(change(stored))
	if err != nil {
		return fmt.Errorf("encoding the record of %s: %w", origin, err)
	}
	if err := s.backend.Store(ctx, recordKey(origin, token), seal(data)); err != nil {
		return fmt.Errorf("storing the record of %s: %w", origin, err)
	}
	return nil
}

// saveBody stores a body that is not there yet. One that was written long ago
// is written again, so that pruning sees that it is in use.
func (s *Store) saveBody(ctx context.Context, sum string, body []byte) error {
	info, err := s.backend.Stat(ctx, bodyKey(sum))
	switch {
	case err == nil && time.Since(info.Modified) < s.config.Archive/8:
		return nil
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	if body == nil {
		if body, err = s.Body(ctx, sum); err != nil {
			return err
		}
	}
	return s.backend.Store(ctx, bodyKey(sum), seal(body))
}

// Forget drops the stored copy of an origin, so that no gate that starts later
// takes it for fresh. The history stays.
func (s *Store) Forget(origin, token string) {
	s.enqueue(job{size: 1024, run: func(ctx context.Context) error {
		if _, err := s.Record(ctx, origin, token); err != nil {
			return err
		}
		return s.update(ctx, origin, token, func(stored Record) Record {
			stored.Origin, stored.Token = origin, token
			stored.Current, stored.UpdatedAt = nil, time.Now()
			return stored
		})
	}})
}
