// Package cache keeps what origins said in their robots.txt: how long it may be
// used, when to ask again, and what holds while an origin does not answer
// (DESIGN §5). It has two halves. Shared is the state, which outlives
// configurations; Cache is one configuration's view of it.
package cache

import (
	"context"
	"sync"
	"time"

	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/store"
)

// The defaults of Config.
const (
	DefaultMaxSize     = 256 << 20
	DefaultTTL         = 24 * time.Hour // the bound of RFC 9309 §2.4
	DefaultMinTTL      = time.Minute
	DefaultStale       = 720 * time.Hour
	DefaultRetryMin    = 30 * time.Second
	DefaultRetryMax    = 15 * time.Minute
	DefaultMaxInFlight = 256
)

// Config says how a Cache keeps copies. Zero values mean the defaults.
type Config struct {
	// MaxSize bounds the bytes kept in memory, everything counted.
	// Default: 256 MiB.
	MaxSize uint64

	// TTL is the longest use of a fresh copy, MinTTL the shortest whatever the
	// origin says. Defaults: 24h, 1m.
	TTL, MinTTL time.Duration

	// Stale is how long the last good copy serves while the origin is
	// unreachable, counted from when it was last confirmed. Default: 720h.
	Stale time.Duration

	// RetryMin and RetryMax bound the backoff of retries. Defaults: 30s, 15m.
	RetryMin, RetryMax time.Duration

	// MaxInFlight bounds the fetches at one time. Default: 256.
	MaxInFlight int

	// Timeout is the fetcher's, and bounds the wait for a free slot too.
	// Default: 10s.
	Timeout time.Duration

	// UserAgent is sent with every fetch. Default: that of the request that
	// led to the first fetch of the origin.
	UserAgent string

	// Fetch asks an origin. It returns within Timeout.
	Fetch func(context.Context, fetch.Request) fetch.Result

	// Store keeps copies over restarts and shares them with other gates.
	// Default: none; copies live in memory alone.
	Store *store.Store

	// OnFetch, where set, is told of every fetch that ended. It is called by
	// several goroutines at once and before the answer counts.
	OnFetch func(fetch.Request, fetch.Result, time.Duration)
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	if c.MaxSize == 0 {
		c.MaxSize = DefaultMaxSize
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	def(&c.TTL, DefaultTTL)
	def(&c.MinTTL, DefaultMinTTL)
	def(&c.Stale, DefaultStale)
	def(&c.RetryMin, DefaultRetryMin)
	def(&c.RetryMax, DefaultRetryMax)
	def(&c.Timeout, fetch.DefaultTimeout)
	c.MinTTL = min(c.MinTTL, c.TTL)
	c.RetryMax = max(c.RetryMax, c.RetryMin)
	return c
}

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

// A Cache is one configuration's view of a Shared. Making one changes nothing;
// Start puts its configuration in force.
type Cache struct {
	shared *Shared
	config Config

	wake chan struct{}
	stop chan struct{}
	work sync.WaitGroup
}

// New makes a view. The configuration counts from Start on.
func New(shared *Shared, config Config) *Cache {
	return &Cache{
		shared: shared, config: config.withDefaults(),
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
}

// Start puts the configuration in force, in place of that of any Cache started
// before, and begins the renewal of copies.
func (c *Cache) Start() {
	s := c.shared
	s.mu.Lock()
	s.started = append(s.started, c)
	s.enforce()
	s.mu.Unlock()
	c.work.Go(c.renew)
}

// Stop ends the renewal. The configuration started before, if it still runs,
// counts again. Fetches in flight go on. Stop is called once, after Start.
func (c *Cache) Stop() {
	s := c.shared
	s.mu.Lock()
	for i, other := range s.started {
		if other == c {
			s.started = append(s.started[:i:i], s.started[i+1:]...)
			break
		}
	}
	s.enforce()
	s.mu.Unlock()
	close(c.stop)
	c.work.Wait()
}

// enforce puts the bounds of the last started configuration in force.
// Shared.mu is held.
func (s *Shared) enforce() {
	if len(s.started) == 0 {
		s.current.Store(nil)
		return
	}
	c := s.started[len(s.started)-1]
	s.current.Store(c)
	s.slots.max = c.config.MaxInFlight
	if s.entries.GetMaximum() != c.config.MaxSize {
		s.entries.SetMaximum(c.config.MaxSize)
	}
	s.fill()
	s.poke()
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

// renew starts the renewals that are due and asked for, while this is the
// configuration in force.
func (c *Cache) renew() {
	s := c.shared
	timer := time.NewTimer(never)
	defer timer.Stop()
	for {
		if s.current.Load() == c {
			timer.Reset(c.renewDue())
		}
		select {
		case <-timer.C:
		case <-c.wake:
		case <-c.stop:
			return
		}
	}
}

// renewDue starts what may start and returns how long there is nothing to do.
func (c *Cache) renewDue() time.Duration {
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.spare() {
		e, wait := s.plan.next(s.now())
		if e == nil {
			if wait < 0 {
				return never
			}
			return wait
		}
		// An entry that was evicted in the meantime is nobody's any more, and
		// one that is being fetched anyway plans itself anew.
		if have, st := s.peek(e.key); have != e || st.varies || s.flights[e.key] != nil {
			continue
		}
		s.newFlight(c, e.key, renewal, "", e.renewalToken())
	}
	// The next free slot wakes us.
	return never
}

// renewalToken is the token in whose name the copy is fetched again.
func (e *entry) renewalToken() string {
	if e.key.token != "" {
		return e.key.token
	}
	if st := e.state.Load(); st.copy != nil {
		return st.copy.token
	}
	return ""
}
