package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/robotsgate/robotsgate/internal/fetch"
)

// class is the priority of a flight.
type class uint8

const (
	// firstVisit: somebody waits, and nothing is known of the origin.
	firstVisit class = iota
	// revisit: somebody waits for an origin whose last fetch failed.
	revisit
	// renewal: nobody waits.
	renewal
)

var (
	errShutdown   = errors.New("shutting down")
	errOverloaded = errors.New("too many origins are waiting for their robots.txt; raise fetch max_in_flight or send fewer new origins at once")
)

// flight is one fetch on its way, and everybody who waits for it.
type flight struct {
	cache *Cache // that began it
	key   key
	class class

	// userAgent and token are of the request that began it.
	userAgent string
	token     string

	done   chan struct{}
	ctx    context.Context
	cancel context.CancelCauseFunc

	// guarded by Shared.mu
	place    place
	started  time.Duration
	answered bool // the origin gave a sign of life
	yielding bool // was told to give up its slot
	expiry   *time.Timer
	purged   bool

	// known is what storage had, where that is newer than memory.
	known *state

	// the outcome, readable once done is closed
	state      *state
	overloaded bool
	varies     bool
	stored     bool // it came from storage
}

// newFlight registers a flight for the key. Shared.mu is held.
func (s *Shared) newFlight(c *Cache, k key, cl class, userAgent, token string) *flight {
	f := &flight{cache: c, key: k, class: cl, userAgent: userAgent, token: token, done: make(chan struct{})}
	f.key.origin = k.origin.Clone()
	f.ctx, f.cancel = context.WithCancelCause(context.Background())
	s.flights[f.key] = f
	if cl == renewal || s.view(c).config.Store == nil {
		s.admit(f)
	} else {
		// Storage is asked before the queue: what it has needs no slot.
		go s.recall(f)
	}
	return f
}

// fly fetches. It runs in a goroutine of its own that no waiter can end.
func (s *Shared) fly(f *flight) {
	c := s.view(f.cache)
	_, known := s.peek(f.key)
	if f.class == renewal {
		// Perhaps another gate has been there already.
		if st, at := s.stored(c, f.key, known); st != nil && at > s.now() {
			s.adopt(f, st, at)
			return
		}
	}
	known = newer(known, f.known)
	request := fetch.Request{
		Origin: f.key.origin, UserAgent: f.userAgent,
		Answering: func() { s.answering(f) },
	}
	if known != nil && known.copy != nil {
		request.UserAgent = known.copy.FetchUserAgent
		request.ETag, request.LastModified = known.copy.etag, known.copy.lastModified
		request.ValidatorURL = known.copy.FinalURL
	}
	if c.config.UserAgent != "" {
		request.UserAgent = c.config.UserAgent
	}
	result := c.fetch(f.ctx, request)
	s.land(f, c, known, &request, &result)
}

// fetch calls the configured fetcher; a panic in it is an unreachable origin,
// not the end of the process.
func (c *Cache) fetch(ctx context.Context, request fetch.Request) (result fetch.Result) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			result = fetch.Result{
				Cause: fetch.CauseInternal,
				Err:   &PanicError{Value: p, Stack: debug.Stack()},
			}
		}
		if c.config.OnFetch != nil {
			c.config.OnFetch(request, result, time.Since(began))
		}
	}()
	return c.config.Fetch(ctx, request)
}

// PanicError is a panic of the fetcher. Its text leaves out the stack, which
// is nobody's business but the operator's.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("fetching robots.txt: panic: %v", e.Value) }

// land stores what the fetch established and lets the waiters go.
func (s *Shared) land(f *flight, c *Cache, known *state, request *fetch.Request, result *fetch.Result) {
	// Meanwhile another configuration may have been started.
	c = s.view(c)
	// Parsing takes its time and happens before anything is locked.
	next, renewal := advance(known, result, request, f.token, &c.config, s.now())

	kept := result.Cause != fetch.CauseCancelled
	s.mu.Lock()
	f.state = next
	f.varies = next.copy != nil && next.copy.varies
	if kept = kept && !f.purged; kept {
		delete(s.purged, f.key)
		s.keep(f, next, renewal)
	}
	s.finish(f)
	s.mu.Unlock()

	if kept && next.failure == nil {
		c.save(f, next.copy, result.Body)
	}
}

// finish lets the waiters go and the slot too. Shared.mu is held.
func (s *Shared) finish(f *flight) {
	if s.flights[f.key] == f {
		delete(s.flights, f.key)
	}
	s.release(f)
	f.cancel(nil)
	close(f.done)
}

// home is where a good answer belongs: in the origin's own entry, or in the
// token's where the answer varies by User-Agent.
func (f *flight) home() key {
	if !f.varies {
		return key{origin: f.key.origin}
	}
	return key{f.key.origin, variant(f.state.copy.token)}
}

// keep puts the outcome where it belongs. Shared.mu is held.
func (s *Shared) keep(f *flight, next *state, renewal time.Duration) {
	if next.failure != nil {
		s.put(f.key, next, renewal)
		return
	}
	home := f.home()
	s.put(home, next, renewal)
	if home == f.key {
		return
	}
	if f.varies {
		s.put(key{origin: f.key.origin}, &state{varies: true}, never)
	} else {
		// The origin no longer varies: one entry serves all tokens again.
		s.entries.Invalidate(f.key.slot())
	}
}

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)

// variant is the key part for a token; no token is the group "*".
func variant(token string) string {
	if token == "" {
		return "*"
	}
	return token
}
