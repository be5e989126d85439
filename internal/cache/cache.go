// Package cache keeps what origins said in their robots.txt: how long it may be
// used, when to ask again, and what holds while an origin does not
// answer. It has two halves. Shared is the state, which outlives
// configurations; Cache is one configuration's view of it.
package cache

import (
	"context"
	"sync"
	"time"

	"github.com/robotsgate/robotsgate/internal/fetch"
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
