package cache_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/store"
)

// overTCP is a cache that fetches from a fault origin.
func overTCP(t *testing.T, o *faultorigin.Origin) *cache.Cache {
	t.Helper()
	config := fetch.Config{Dial: o.Dial, RootCAs: o.Roots, Timeout: 2 * time.Second}
	shared := cache.NewShared()
	c := cache.New(shared, cache.Config{Fetch: fetch.New(config).Fetch, Timeout: config.Timeout})
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		if err := shared.Destruct(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func plain(host string) origin.Origin { return origin.Origin{Scheme: "http", Host: host, Port: 80} }

func TestR12_AllWaitersAreReleasedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, slowly(10*time.Second, func(fetch.Request) fetch.Result {
			return fetch.Result{Cause: fetch.CauseTimeout, Err: errors.New("timeout")}
		}), nil)
		var waiters sync.WaitGroup
		began := time.Now()
		for i := range 1000 {
			waiters.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				a := ask(t, c, "a.test")
				if !a.Unreachable || a.Cause != fetch.CauseTimeout || time.Since(began) != 10*time.Second {
					t.Errorf("after %v: %+v", time.Since(began), a)
				}
			})
		}
		waiters.Wait()
		if s.count() != 1 {
			t.Errorf("%d fetches", s.count())
		}
	})
}

func TestR34_RedirectToAnotherHost(t *testing.T) {
	o := faultorigin.Start(t)
	o.Set("a.test", faultorigin.Redirect(301, "http://b.test/robots.txt"))
	var asked atomic.Int64
	o.Set("b.test", func(c *faultorigin.Conn) bool {
		body := "User-agent: *\nDisallow: /b\n"
		if asked.Add(1) > 1 {
			body = "User-agent: *\nDisallow: /second\n"
		}
		return faultorigin.Answer(200, "", body)(c)
	})
	c := overTCP(t, o)
	a := c.Lookup(t.Context(), plain("a.test"), "", "")
	expect(t, a, cache.SourceFetched, false, 200)
	if a.Copy.Matcher("x").Match("/b").Allowed || a.Copy.FinalURL != "http://b.test/robots.txt" || a.Copy.RobotsURL != "http://a.test/robots.txt" {
		t.Errorf("%+v", a.Copy)
	}
	b := c.Lookup(t.Context(), plain("b.test"), "", "")
	expect(t, b, cache.SourceFetched, false, 200)
	if b.Copy.Matcher("x").Match("/second").Allowed {
		t.Error("the redirect's answer was kept for its target")
	}
}

// Host and port and scheme: each has a robots.txt of its own.
func TestKeyIsTheWholeOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, good(rules), nil)
		for _, o := range []origin.Origin{
			{Scheme: "http", Host: "a.test", Port: 80},
			{Scheme: "https", Host: "a.test", Port: 443},
			{Scheme: "http", Host: "a.test", Port: 443},
			{Scheme: "https", Host: "a.test", Port: 80},
			{Scheme: "https", Host: "a.test", Port: 8443},
			{Scheme: "https", Host: "b.test", Port: 443},
		} {
			if a := c.Lookup(t.Context(), o, "", ""); a.Source != cache.SourceFetched || a.Copy.RobotsURL != o.RobotsURL() {
				t.Errorf("%v: %+v", o, a)
			}
		}
		if s.count() != 6 {
			t.Errorf("%d fetches", s.count())
		}
	})
}

func TestR42_HalfOfTheWaitersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, slowly(time.Second, good(rules)), nil)
		ctx, leave := context.WithCancel(t.Context())
		var waiters sync.WaitGroup
		var left, served atomic.Int64
		for i := range 10_000 {
			waiters.Go(func() {
				mine := t.Context()
				if i%2 == 0 {
					mine = ctx
				}
				switch a := c.Lookup(mine, site("a.test"), "", ""); {
				case a.Copy != nil:
					served.Add(1)
				case errors.Is(a.Err, context.Canceled) && a.Unreachable:
					left.Add(1)
				}
			})
		}
		synctest.Wait()
		leave()
		waiters.Wait()
		if left.Load() != 5000 || served.Load() != 5000 || s.count() != 1 {
			t.Errorf("%d left, %d served, %d fetches", left.Load(), served.Load(), s.count())
		}
	})
}

// One client walks past fifty thousand origins; those that all others use
// stay.
func TestR46_HotOriginsStay(t *testing.T) {
	var fetches atomic.Int64
	shared := cache.NewShared()
	c := cache.New(shared, cache.Config{MaxSize: 8 << 20, Fetch: func(_ context.Context, r fetch.Request) fetch.Result {
		fetches.Add(1)
		return good(rules)(r)
	}})
	c.Start()
	defer c.Stop()
	hot := func() {
		for i := range 100 {
			ask(t, c, fmt.Sprintf("hot%d.test", i))
		}
	}
	for range 20 {
		hot()
	}
	missed := int64(0)
	for round := range 250 {
		for i := range 200 {
			ask(t, c, fmt.Sprintf("cold%d.test", round*200+i))
		}
		before := fetches.Load()
		hot()
		// The policy learns how much of the room newcomers deserve.
		if round >= 50 {
			missed += fetches.Load() - before
		}
	}
	if missed > 200 {
		t.Errorf("%d of 20,000 requests for hot origins missed", missed)
	}
	if stats := c.Stats(); stats.Bytes > 8<<20 {
		t.Errorf("%d bytes held of %d", stats.Bytes, 8<<20)
	}
}

// A reload with a smaller bound holds at once.
func TestR46_BoundChanges(t *testing.T) {
	shared := cache.NewShared()
	s := &script{answer: good(rules)}
	big := cache.New(shared, cache.Config{Fetch: s.fetch})
	big.Start()
	for i := range 10_000 {
		ask(t, big, fmt.Sprintf("%d.test", i))
	}
	small := cache.New(shared, cache.Config{MaxSize: 1 << 20, Fetch: s.fetch})
	if got := shared.Stats().Bytes; got < 4<<20 {
		t.Fatalf("%d bytes before the start of the smaller configuration", got)
	}
	small.Start()
	big.Stop()
	if got := shared.Stats().Bytes; got > 1<<20 {
		t.Errorf("%d bytes after it", got)
	}
	small.Stop()
}

// A lock that a dead gate left behind stops nobody: none is ever taken.
func TestR53_NoLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(lockless{&certmagic.FileStorage{Path: t.TempDir()}, t}, good(rules), nil)
		defer g.stop(t)
		if a := ask(t, g.Cache, "a.test"); a.Copy == nil {
			t.Errorf("%+v", a)
		}
		g.Purge(site("a.test"))
		synctest.Wait()
	})
}

type lockless struct {
	certmagic.Storage
	t *testing.T
}

func (l lockless) Lock(context.Context, string) error {
	l.t.Error("a lock was taken")
	return errors.New("locked by a dead peer")
}

// untouched is a storage that must not be used.
type untouched struct{ store.Backend }

// A start reads nothing, however much is stored.
func TestR56_LazyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(untouched{}, good(rules), nil) // any call is a nil dereference
		synctest.Wait()
		g.stop(t)
	})
}

// The storm: dead, slow and broken origins, waiters that leave, and all that
// goes when it is over.
func TestR61_NothingStays(t *testing.T) {
	o := faultorigin.Start(t)
	config := fetch.Config{Dial: o.Dial, Timeout: 300 * time.Millisecond}
	var open atomic.Int64
	config.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := o.Dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &counted{Conn: conn, open: &open}, nil
	}
	shared := cache.NewShared()
	c := cache.New(shared, cache.Config{Fetch: fetch.New(config).Fetch, Timeout: config.Timeout, MaxInFlight: 64})
	c.Start()
	modes := []string{"ok", "hang", "drip", "short", "rst", "rst-body", "infinite", "bigheaders", "st-503", "hops-9", "gzip-cut"}
	var waiters sync.WaitGroup
	for i := range 2000 {
		waiters.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%400)*time.Millisecond)
			defer cancel()
			c.Lookup(ctx, plain(fmt.Sprintf("%s.%d.test", modes[i%len(modes)], i%500)), "", "")
		})
	}
	waiters.Wait()
	c.Stop()
	if err := shared.Destruct(); err != nil {
		t.Error(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for open.Load() != 0 || shared.Stats().InFlight != 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections and %d fetches stay", open.Load(), shared.Stats().InFlight)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

type counted struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}
