package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
)

const rules = "User-agent: *\nDisallow: /private\n"

// script is a fetcher whose answers the test chooses.
type script struct {
	mu     sync.Mutex
	answer func(fetch.Request) fetch.Result
	log    []fetch.Request
	at     []time.Time
}

func (s *script) fetch(ctx context.Context, r fetch.Request) fetch.Result {
	s.mu.Lock()
	s.log = append(s.log, r)
	s.at = append(s.at, time.Now())
	answer := s.answer
	s.mu.Unlock()
	result := answer(r)
	if result.UserAgent == "" {
		result.UserAgent = r.UserAgent
	}
	if result.FinalURL == "" {
		result.FinalURL = r.Origin.RobotsURL()
	}
	if ctx.Err() != nil {
		return fetch.Result{Cause: fetch.CauseCancelled, Err: context.Cause(ctx)}
	}
	return result
}

func (s *script) say(answer func(fetch.Request) fetch.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

func good(body string) func(fetch.Request) fetch.Result {
	return func(fetch.Request) fetch.Result {
		return fetch.Result{Outcome: fetch.Rules, Cause: fetch.CauseOK, Status: 200, Body: []byte(body)}
	}
}

func goodFor(lifetime time.Duration) func(fetch.Request) fetch.Result {
	return func(r fetch.Request) fetch.Result {
		result := good(rules)(r)
		result.Lifetime, result.HasLifetime = lifetime, true
		return result
	}
}

func missing(fetch.Request) fetch.Result {
	return fetch.Result{Outcome: fetch.Unavailable, Cause: fetch.CauseUnavailable, Status: 404}
}

func broken(fetch.Request) fetch.Result {
	return fetch.Result{Cause: fetch.CauseServerError, Status: 503, Err: errors.New("answered 503")}
}

func slowly(d time.Duration, then func(fetch.Request) fetch.Result) func(fetch.Request) fetch.Result {
	return func(r fetch.Request) fetch.Result {
		time.Sleep(d)
		return then(r)
	}
}

// start runs a cache in a synctest bubble until the test ends.
func start(t *testing.T, answer func(fetch.Request) fetch.Result, change func(*cache.Config)) (*cache.Cache, *script) {
	t.Helper()
	s := &script{answer: answer}
	config := cache.Config{Fetch: s.fetch}
	if change != nil {
		change(&config)
	}
	shared := cache.NewShared()
	c := cache.New(shared, config)
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		if err := shared.Destruct(); err != nil {
			t.Error(err)
		}
	})
	return c, s
}

func site(name string) origin.Origin { return origin.Origin{Scheme: "https", Host: name, Port: 443} }

func ask(t *testing.T, c *cache.Cache, name string) cache.Answer {
	t.Helper()
	return c.Lookup(t.Context(), site(name), "ExampleBot/1.0", "examplebot")
}

func expect(t *testing.T, a cache.Answer, source cache.Source, unreachable bool, status int) {
	t.Helper()
	if a.Source != source || a.Unreachable != unreachable || a.Status != status || (a.Copy == nil) != unreachable {
		t.Fatalf("got %s unreachable=%v status=%d copy=%v err=%v, want %s unreachable=%v status=%d",
			a.Source, a.Unreachable, a.Status, a.Copy != nil, a.Err, source, unreachable, status)
	}
}

func TestCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := start(t, good(rules), nil)
		began := time.Now()
		a := ask(t, c, "a.test")
		expect(t, a, cache.SourceFetched, false, 200)
		expect(t, ask(t, c, "a.test"), cache.SourceMemory, false, 200)
		// sha256sum of the rules above.
		const sum = "38ee13a89fd0de18fe5f1f192cb4179a600acc093eefb277f5a7f77660033e8f"
		copied := a.Copy
		if copied.State != cache.StateRules || copied.SHA256 != sum || copied.Size != len(rules) ||
			copied.RobotsURL != "https://a.test/robots.txt" || copied.FinalURL != "" ||
			copied.FetchUserAgent != "ExampleBot/1.0" || !copied.FetchedAt.Equal(began) ||
			!copied.ValidatedAt.Equal(began) || !copied.ExpiresAt.Equal(began.Add(24*time.Hour)) || copied.Archived() {
			t.Errorf("copy: %+v", copied)
		}
		if m := copied.Matcher("examplebot"); m.Match("/private/x").Allowed || !m.Match("/public").Allowed {
			t.Error("the rules do not decide")
		}
	})
}

func TestR08_UnavailableIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, missing, nil)
		a := ask(t, c, "a.test")
		expect(t, a, cache.SourceFetched, false, 404)
		if a.Copy.State != cache.StateUnavailable || !a.Copy.Matcher("x").Match("/any").Allowed || a.Copy.SHA256 != "" {
			t.Errorf("copy: %+v", a.Copy)
		}
		time.Sleep(18 * time.Hour)
		expect(t, ask(t, c, "a.test"), cache.SourceMemory, false, 404)
		if s.count() != 1 {
			t.Errorf("%d fetches", s.count())
		}
	})
}

// A 404 of more than a day ago does not allow anything while the origin is
// down: it is not a copy of rules.
func TestR08_UnavailableIsNoLastGoodCopyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, func(fetch.Request) fetch.Result {
			return fetch.Result{Outcome: fetch.Unavailable, Status: 404, Lifetime: time.Hour, HasLifetime: true}
		}, nil)
		ask(t, c, "a.test")
		s.say(broken)
		time.Sleep(2 * time.Hour)
		expect(t, ask(t, c, "a.test"), cache.SourceStale, false, 503)
		time.Sleep(23 * time.Hour)
		expect(t, ask(t, c, "a.test"), cache.SourceFetched, true, 503)
	})
}

func TestR09_RetryAfterBound(t *testing.T) {
	for asked, w := range map[time.Duration]time.Duration{
		2 * time.Minute: 2 * time.Minute,
		48 * time.Hour:  time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := start(t, func(r fetch.Request) fetch.Result {
				result := broken(r)
				result.RetryAfter = asked
				return result
			}, nil)
			if a := ask(t, c, "a.test"); a.RetryAfter != w {
				t.Errorf("asked for %v: %v, want %v", asked, a.RetryAfter, w)
			}
		})
	}
}

func TestR10_LastGoodCopyServesForStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, good(rules), nil)
		ask(t, c, "a.test")
		s.say(broken)
		for day := 1; day < 30; day++ {
			time.Sleep(24*time.Hour + time.Minute)
			a := ask(t, c, "a.test")
			expect(t, a, cache.SourceStale, false, 503)
			if a.Copy.Matcher("x").Match("/private").Allowed || a.Err == nil || a.RetryAfter <= 0 {
				t.Fatalf("day %d: %+v", day, a)
			}
		}
		time.Sleep(24 * time.Hour)
		if a := ask(t, c, "a.test"); !a.Unreachable {
			t.Fatalf("after 30 days: %+v", a)
		}
		time.Sleep(24 * time.Hour)
		expect(t, ask(t, c, "a.test"), cache.SourceFetched, true, 503)
	})
}

func TestR18_CutBody(t *testing.T) {
	for name, test := range map[string]struct {
		body        string
		unreachable bool
	}{
		"first part": {rules[:20], true},
		"nothing":    {"", true},
		"whole":      {rules, false},
		"longer":     {rules + "Disallow: /more\n", false},
		"other":      {"User-agent: x\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := start(t, good(rules), nil)
				ask(t, c, "a.test")
				s.say(func(fetch.Request) fetch.Result {
					return fetch.Result{Outcome: fetch.Rules, Status: 200, Body: []byte(test.body), EOFDelimited: true}
				})
				time.Sleep(25 * time.Hour)
				a := ask(t, c, "a.test")
				if test.unreachable {
					expect(t, a, cache.SourceStale, false, 200)
					return
				}
				expect(t, a, cache.SourceFetched, false, 200)
				if lived := a.Copy.ExpiresAt.Sub(a.Copy.ValidatedAt); lived != time.Hour {
					t.Errorf("lifetime %v, want 1h", lived)
				}
			})
		})
	}
}

func TestR42_WaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, slowly(time.Second, good(rules)), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		a := c.Lookup(ctx, site("a.test"), "", "")
		if !a.Unreachable || !errors.Is(a.Err, context.DeadlineExceeded) {
			t.Fatalf("left with %+v", a)
		}
		expect(t, ask(t, c, "a.test"), cache.SourceCoalesced, false, 200)
		if s.count() != 1 {
			t.Errorf("%d fetches", s.count())
		}
	})
}

func TestR43_OneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, slowly(time.Second, good(rules)), nil)
		var waiters sync.WaitGroup
		var mu sync.Mutex
		sources := make(map[cache.Source]int)
		for range 10_000 {
			waiters.Go(func() {
				a := ask(t, c, "a.test")
				mu.Lock()
				defer mu.Unlock()
				sources[a.Source]++
			})
		}
		waiters.Wait()
		if s.count() != 1 || sources[cache.SourceFetched] != 1 || sources[cache.SourceCoalesced] != 9_999 {
			t.Errorf("%d fetches, sources %v", s.count(), sources)
		}
	})
}

func TestR44_Queue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		flying, most := 0, 0
		c, _ := start(t, func(r fetch.Request) fetch.Result {
			mu.Lock()
			flying++
			most = max(most, flying)
			mu.Unlock()
			r.Answering()
			time.Sleep(time.Second)
			mu.Lock()
			flying--
			mu.Unlock()
			return good(rules)(r)
		}, nil)
		var waiters sync.WaitGroup
		overloaded, allowed := 0, 0
		for i := range 10_000 {
			waiters.Go(func() {
				a := ask(t, c, fmt.Sprintf("%d.test", i))
				mu.Lock()
				defer mu.Unlock()
				if a.Overloaded {
					overloaded++
				} else if a.Copy != nil {
					allowed++
				}
			})
		}
		waiters.Wait()
		// 256 slots, one second each, and ten seconds of patience.
		if most != 256 || allowed < 2560 || allowed > 2816 || overloaded+allowed != 10_000 {
			t.Errorf("%d in flight, %d allowed, %d overloaded", most, allowed, overloaded)
		}
	})
}

func TestR45_RefreshInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, goodFor(time.Hour), nil)
		ask(t, c, "a.test")
		began := time.Now()
		for time.Since(began) < 10*time.Hour {
			time.Sleep(10 * time.Second)
			expect(t, ask(t, c, "a.test"), cache.SourceMemory, false, 200)
		}
		if n := s.count(); n < 11 || n > 13 {
			t.Errorf("%d fetches in 10 hours", n)
		}
		for i := 1; i < len(s.at); i++ {
			if gap := s.at[i].Sub(s.at[i-1]); gap < 48*time.Minute || gap > time.Hour {
				t.Errorf("refreshed after %v", gap)
			}
		}
	})
}

func TestR45_NobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, goodFor(time.Hour), nil)
		ask(t, c, "a.test")
		time.Sleep(100 * time.Hour)
		if s.count() != 1 {
			t.Errorf("%d fetches for an origin that nobody asks for", s.count())
		}
		// Late, but within the lifetime of another fetch: the refresh that was
		// left out happens now.
		expect(t, ask(t, c, "a.test"), cache.SourceFetched, false, 200)
		time.Sleep(58 * time.Minute)
		expect(t, ask(t, c, "a.test"), cache.SourceMemory, false, 200)
		synctest.Wait()
		if s.count() != 3 {
			t.Errorf("%d fetches", s.count())
		}
	})
}

func TestR47_LifetimeBounds(t *testing.T) {
	for declared, w := range map[time.Duration]time.Duration{
		0:                         time.Minute,
		time.Second:               time.Minute,
		time.Hour:                 time.Hour,
		10 * 365 * 24 * time.Hour: 24 * time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := start(t, goodFor(declared), nil)
			a := ask(t, c, "a.test")
			if got := a.Copy.ExpiresAt.Sub(a.Copy.ValidatedAt); got != w {
				t.Errorf("%v: kept %v, want %v", declared, got, w)
			}
		})
	}
}

func TestR48_FailuresAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, broken, nil)
		expect(t, ask(t, c, "a.test"), cache.SourceFetched, true, 503)
		began := time.Now()
		for time.Since(began) < 2*time.Hour {
			time.Sleep(time.Second)
			a := ask(t, c, "a.test")
			if !a.Unreachable || a.RetryAfter <= 0 {
				t.Fatalf("%+v", a)
			}
		}
		base := 30 * time.Second
		for i := 1; i < len(s.at); i++ {
			gap := s.at[i].Sub(s.at[i-1])
			if gap < base*9/10 || gap > base*11/10+2*time.Second {
				t.Errorf("retry %d after %v, want %v ±10%%", i, gap, base)
			}
			base = min(2*base, 15*time.Minute)
		}
		if len(s.at) < 10 {
			t.Errorf("only %d tries", len(s.at))
		}
	})
}

func TestR48_Recovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, broken, nil)
		ask(t, c, "a.test")
		time.Sleep(10 * time.Second)
		a := ask(t, c, "a.test")
		s.say(good(rules))
		// Nobody has to ask again for the retry to happen.
		time.Sleep(a.RetryAfter + time.Second)
		expect(t, ask(t, c, "a.test"), cache.SourceMemory, false, 200)
	})
}

// Whoever keeps to Retry-After gets the truth and not the old failure.
func TestR48_RetryAfterKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, broken, nil)
		a := ask(t, c, "a.test")
		s.say(slowly(time.Second, good(rules)))
		time.Sleep(a.RetryAfter)
		expect(t, ask(t, c, "a.test"), cache.SourceFetched, false, 200)
	})
}

func TestR48_DeadOriginsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, broken, nil)
		for i := range 10_000 {
			ask(t, c, fmt.Sprintf("%d.test", i))
		}
		time.Sleep(100 * time.Hour)
		if s.count() != 10_000 {
			t.Errorf("%d fetches of 10,000 origins that nobody asked for again", s.count())
		}
	})
}

func TestR31_VaryUserAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		varying := func(r fetch.Request) fetch.Result {
			result := good("User-agent: *\nDisallow: /" + r.UserAgent + "\n")(r)
			result.VaryUserAgent = true
			return result
		}
		c, s := start(t, slowly(time.Second, varying), nil)
		var both sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			both.Go(func() {
				for range 3 {
					got := c.Lookup(t.Context(), site("v.test"), name, name)
					if got.Copy == nil || got.Copy.Matcher("x").Match("/"+name).Allowed || got.Copy.FetchUserAgent != name {
						t.Errorf("%s got %+v", name, got)
					}
				}
			})
		}
		both.Wait()
		if s.count() != 2 {
			t.Errorf("%d fetches for two tokens", s.count())
		}
		if got := c.Entry(site("v.test")); len(got) != 2 || got[0].Token != "a" || got[1].Token != "b" {
			t.Errorf("entries: %+v", got)
		}
		// Both are refreshed in their own name.
		for range 30 {
			time.Sleep(time.Hour)
			for _, name := range []string{"a", "b"} {
				if got := c.Lookup(t.Context(), site("v.test"), "other", name); got.Copy.FetchUserAgent != name {
					t.Errorf("%s got %+v", name, got)
				}
			}
		}
		// The origin stops varying: one entry again.
		s.say(good(rules))
		time.Sleep(48 * time.Hour)
		c.Lookup(t.Context(), site("v.test"), "a", "a")
		before := s.count()
		c.Lookup(t.Context(), site("v.test"), "b", "b")
		if s.count() != before {
			t.Error("a token of its own although the answer no longer varies")
		}
		if !c.Purge(site("v.test")) || c.Purge(site("v.test")) {
			t.Error("purge")
		}
	})
}

func TestPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := start(t, good(rules), nil)
		ask(t, c, "a.test")
		if !c.Purge(site("a.test")) || c.Purge(site("a.test")) || c.Entry(site("a.test")) != nil {
			t.Error("purge")
		}
		// What was asked before the purge is not kept after it.
		s.say(slowly(time.Second, good("older")))
		go ask(t, c, "a.test")
		synctest.Wait()
		c.Purge(site("a.test"))
		s.say(good("new"))
		ask(t, c, "a.test")
		time.Sleep(2 * time.Second)
		if got := ask(t, c, "a.test"); got.Copy.Size != len("new") || got.Source != cache.SourceMemory {
			t.Errorf("%+v", got)
		}
	})
}

func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := start(t, good(rules), nil)
		for i := range 100 {
			ask(t, c, fmt.Sprintf("%02d.test", i))
		}
		var after origin.Origin
		seen := 0
		for {
			page := c.List(after, 7)
			if len(page) == 0 {
				break
			}
			for _, snap := range page {
				if want := fmt.Sprintf("%02d.test", seen); snap.Origin.Host != want || snap.Copy == nil || snap.Bytes == 0 {
					t.Fatalf("%d: %+v", seen, snap)
				}
				seen++
				after = snap.Origin
			}
		}
		if stats := c.Stats(); seen != 100 || stats.Entries != 100 || stats.Bytes == 0 || stats.InFlight != 0 {
			t.Errorf("%d listed, %+v", seen, stats)
		}
	})
}

// A configuration that is made and never started changes nothing.
func TestR57_Reload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := cache.NewShared()
		old := &script{answer: slowly(time.Second, goodFor(time.Hour))}
		first := cache.New(shared, cache.Config{Fetch: old.fetch})
		first.Start()
		ask(t, first, "a.test")
		go ask(t, first, "b.test")
		synctest.Wait()

		cache.New(shared, cache.Config{MaxSize: 1, MaxInFlight: 1, Fetch: old.fetch})
		expect(t, ask(t, first, "a.test"), cache.SourceMemory, false, 200)

		fresh := &script{answer: goodFor(time.Hour)}
		second := cache.New(shared, cache.Config{Fetch: fresh.fetch})
		second.Start()
		first.Stop()
		expect(t, ask(t, second, "a.test"), cache.SourceMemory, false, 200)
		expect(t, ask(t, second, "b.test"), cache.SourceCoalesced, false, 200)
		expect(t, ask(t, second, "b.test"), cache.SourceMemory, false, 200)
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if old.count() != 2 || fresh.count() != 2 {
			t.Errorf("%d fetches by the old, %d by the new configuration", old.count(), fresh.count())
		}

		// One that starts and stops again gives way to the one before.
		third := cache.New(shared, cache.Config{Fetch: old.fetch})
		third.Start()
		third.Stop()
		ask(t, second, "c.test")
		if fresh.count() != 3 {
			t.Errorf("%d fetches after the third went", fresh.count())
		}
		second.Stop()
		if err := shared.Destruct(); err != nil {
			t.Error(err)
		}
	})
}

func TestR60_PanicInTheFetcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := start(t, func(fetch.Request) fetch.Result { panic("boom") }, nil)
		a := ask(t, c, "a.test")
		expect(t, a, cache.SourceFetched, true, 0)
		if a.Cause != fetch.CauseInternal {
			t.Errorf("cause %s", a.Cause)
		}
	})
}

// Dead origins hold slots for the whole timeout; while others wait, they get a
// quarter of it. 200 new origins a second for a minute, 30 % of them dead.
func TestBroadCrawlWithDeadOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const own = 200 * time.Millisecond
		c, _ := start(t, nil, func(config *cache.Config) {
			config.Fetch = func(ctx context.Context, r fetch.Request) fetch.Result {
				if r.Origin.Host[0] == 'd' {
					select {
					case <-time.After(10 * time.Second):
					case <-ctx.Done():
					}
					return fetch.Result{Cause: fetch.CauseTimeout, Err: errors.New("timeout")}
				}
				time.Sleep(own / 2)
				r.Answering()
				time.Sleep(own / 2)
				return good(rules)(r)
			}
		})
		var crawl sync.WaitGroup
		var mu sync.Mutex
		var waits []time.Duration
		for i := range 200 * 60 {
			time.Sleep(5 * time.Millisecond)
			kind := "healthy"
			if i%10 < 3 {
				kind = "dead"
			}
			crawl.Go(func() {
				began := time.Now()
				a := ask(t, c, fmt.Sprintf("%s%d.test", kind, i))
				if kind == "dead" {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				waits = append(waits, time.Since(began))
				if a.Copy == nil {
					t.Errorf("healthy origin %d: %+v", i, a)
				}
			})
		}
		crawl.Wait()
		slices.Sort(waits)
		if p99 := waits[len(waits)*99/100]; p99 > own+time.Second {
			t.Errorf("p99 of healthy origins %v, longest %v", p99, waits[len(waits)-1])
		}
	})
}

// The warm path is what every request takes.
func TestWarmLookupAllocatesNothing(t *testing.T) {
	s := &script{answer: good(rules)}
	c := cache.New(cache.NewShared(), cache.Config{Fetch: s.fetch})
	o, ctx, tokens := site("a.test"), t.Context(), []string{"examplebot", "example"}
	c.Lookup(ctx, o, "ExampleBot/1.0", "examplebot").Copy.Matcher(tokens...)
	if n := testing.AllocsPerRun(1000, func() {
		c.Lookup(ctx, o, "ExampleBot/1.0", "examplebot").Copy.Matcher(tokens...)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	s := &script{answer: good(rules)}
	c := cache.New(cache.NewShared(), cache.Config{Fetch: s.fetch})
	c.Start()
	defer c.Stop()
	o, ctx, tokens := site("a.test"), b.Context(), []string{"examplebot", "example"}
	c.Lookup(ctx, o, "ExampleBot/1.0", "examplebot")
	b.ReportAllocs()
	for b.Loop() {
		c.Lookup(ctx, o, "ExampleBot/1.0", "examplebot").Copy.Matcher(tokens...)
	}
}
