package cache

import (
	"context"
	"time"

	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
)

// Source says where an answer came from.
type Source string

// The sources.
const (
	SourceMemory    Source = "memory"    // known before
	SourceStorage   Source = "storage"   // read from storage for this request
	SourceFetched   Source = "fetched"   // fetched for this request
	SourceCoalesced Source = "coalesced" // fetched for another request that came first
	SourceStale     Source = "stale"     // last good copy of an unreachable origin
)

// An Answer is what is known of an origin's robots.txt. Exactly one of Copy
// and Unreachable is set.
type Answer struct {
	// Copy is the answer that counts.
	Copy *Copy

	// Source says where it came from; without a copy, where the failure did.
	Source Source

	// Unreachable: there is no usable copy. Everything is disallowed.
	Unreachable bool

	// Overloaded: it is unreachable because there was no free slot to fetch.
	Overloaded bool

	// Status is the status code of the last access, also when that failed and
	// Copy is older; 0 when it brought none.
	Status int

	// Err says why the last access failed. It is the context's error for a
	// waiter that left.
	Err error

	// Cause is Err in one stable word, empty unless the last access failed.
	Cause fetch.Cause

	// RetryAfter is the time until the next try, 0 unless the last access
	// failed.
	RetryAfter time.Duration
}

// Lookup returns what is known of an origin, fetching it where nothing is. The
// User-Agent is the request's own, token the product token that its answer may
// vary by. It returns early when ctx ends; the fetch then goes on for others.
func (c *Cache) Lookup(ctx context.Context, o origin.Origin, userAgent, token string) Answer {
	s := c.shared
	e, ok := s.entries.GetIfPresent(slotOf(o))
	if !ok || e.key.origin != o || e.key.token != "" {
		return c.wait(ctx, key{origin: o}, userAgent, token)
	}
	st := e.state.Load()
	if st.varies {
		k := key{o, variant(token)}
		e, ok = s.entries.GetIfPresent(k.slot())
		if !ok || e.key != k {
			return c.wait(ctx, k, userAgent, token)
		}
		st = e.state.Load()
	}
	now := s.now()
	if st.fresh(now) {
		if !e.asked.Load() {
			s.ask(e, now)
		}
		// Built here and not in a function, which would copy it once more.
		return Answer{Copy: st.copy, Source: SourceMemory, Status: st.copy.Status}
	}
	if answer, known := st.answer(now); known {
		if !e.asked.Load() {
			s.ask(e, now)
		}
		return answer
	}
	return c.wait(ctx, e.key, userAgent, token)
}

// answer is what a state says by itself, if it says anything.
func (s *state) answer(now time.Duration) (Answer, bool) {
	if s.fresh(now) {
		return Answer{Copy: s.copy, Source: SourceMemory, Status: s.copy.Status}, true
	}
	if s.failure == nil || now >= s.failure.retryAt {
		return Answer{}, false
	}
	return s.failed(now), true
}

// failed is the answer of an unreachable origin.
func (s *state) failed(now time.Duration) Answer {
	answer := Answer{
		Source: SourceMemory, Status: s.failure.status, Err: s.failure.err, Cause: s.failure.cause,
		RetryAfter: max(s.failure.retryAt-now, time.Second),
	}
	if s.copy != nil && now < s.staleUntil {
		answer.Copy, answer.Source = s.copy, SourceStale
	} else {
		answer.Unreachable = true
	}
	return answer
}

// ask notes that somebody asked. An entry that came due while nobody did is
// due now.
func (s *Shared) ask(e *entry, now time.Duration) {
	e.asked.Store(true)
	if s.plan.revive(e, now) {
		s.poke()
	}
}

// wait gets an answer that memory does not hold.
func (c *Cache) wait(ctx context.Context, k key, userAgent, token string) Answer {
	s := c.shared
	for {
		f, source, answer := c.join(k, userAgent, token)
		if f == nil {
			return answer
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return Answer{Unreachable: true, Source: source, Err: ctx.Err()}
		}
		if f.overloaded {
			return c.turnedAway(k, source)
		}
		if k.token == "" && (f.state.varies || f.varies && variant(f.token) != variant(token)) {
			// The answer is for another token only.
			k.token = variant(token)
			continue
		}
		if f.stored && source == SourceFetched {
			source = SourceStorage
		}
		return f.state.landed(s.now(), source)
	}
}

// landed is the answer for those who waited.
func (s *state) landed(now time.Duration, source Source) Answer {
	if s.failure == nil {
		return Answer{Copy: s.copy, Source: source, Status: s.copy.Status}
	}
	if s.fresh(now) {
		return Answer{Copy: s.copy, Source: SourceMemory, Status: s.copy.Status}
	}
	answer := s.failed(now)
	if answer.Unreachable {
		answer.Source = source
	}
	return answer
}

// turnedAway is the answer for those who waited for a slot in vain.
func (c *Cache) turnedAway(k key, source Source) Answer {
	now := c.shared.now()
	if _, st := c.shared.peek(k); st != nil && st.failure != nil {
		return st.failed(now)
	}
	return Answer{Unreachable: true, Overloaded: true, Source: source, Err: errOverloaded, RetryAfter: c.config.Timeout}
}

// join returns the flight to wait for, a new one if need be, or no flight and
// the answer.
func (c *Cache) join(k key, userAgent, token string) (*flight, Source, Answer) {
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	e, st := s.peek(k)
	if st != nil && st.varies {
		k.token = variant(token)
		e, st = s.peek(k)
	}
	if st != nil {
		if answer, known := st.answer(now); known {
			s.ask(e, now)
			return nil, "", answer
		}
	}
	f := s.flights[k]
	if st != nil && st.failure != nil {
		usable := st.copy != nil && now < st.staleUntil
		if f != nil && f.class == renewal || s.plan.pending(e) && e.asked.Load() || usable {
			// The retry is under way or about to be: nobody waits for it.
			s.ask(e, now)
			return nil, "", st.failed(now)
		}
	}
	if f != nil {
		return f, SourceCoalesced, Answer{}
	}
	cl := firstVisit
	if st != nil && st.failure != nil {
		cl = revisit
	}
	return s.newFlight(c, k, cl, userAgent, token), SourceFetched, Answer{}
}
