package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/faultorigin"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
)

func plain(host string) origin.Origin { return origin.Origin{Scheme: "http", Host: host, Port: 80} }

// rig is a cache that fetches over TCP from a fault origin.
type rig struct {
	*cache.Cache
	shared *cache.Shared
	origin *faultorigin.Origin
}

func newRig(change func(*cache.Config, *fetch.Config)) *rig {
	o, err := faultorigin.Listen("127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the fault origin:", err)
		os.Exit(1)
	}
	config, fetching := cache.Config{}, fetch.Config{Dial: o.Dial, RootCAs: o.Roots, Version: "bench"}
	if change != nil {
		change(&config, &fetching)
	}
	config.Timeout, config.Fetch = fetching.Timeout, fetch.New(fetching).Fetch
	r := &rig{shared: cache.NewShared(), origin: o}
	r.Cache = cache.New(r.shared, config)
	r.Start()
	return r
}

func (r *rig) close() {
	r.Stop()
	_ = r.shared.Destruct()
	r.origin.Close()
}

// slowly answers the rules after a time.
func slowly(d time.Duration) faultorigin.Mode {
	return func(c *faultorigin.Conn) bool {
		time.Sleep(d)
		return faultorigin.Answer(200, "", faultorigin.Rules)(c)
	}
}

// stampede is 10,000 requests at once for an origin nobody asked for before.
func stampede(options) []figure {
	const n, own = 10_000, time.Second
	r := newRig(nil)
	defer r.close()
	r.origin.Set("slow.test", slowly(own))
	resetHighest()
	waits := make([]time.Duration, n)
	wrong := 0
	var all sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			began := time.Now()
			a := r.Lookup(context.Background(), plain("slow.test"), "ExampleBot/1.0", "examplebot")
			waits[i] = time.Since(began)
			if a.Copy == nil || a.Copy.Matcher("examplebot").Match("/private").Allowed {
				mu.Lock()
				wrong++
				mu.Unlock()
			}
		})
	}
	close(start)
	all.Wait()
	_, highest := resident()
	slices.Sort(waits)
	p99, fetches := percentile(waits, 0.99), len(r.origin.Log("slow.test"))
	return []figure{
		{"10,000 first requests, robots.txt takes 1.0 s: fetches", fmt.Sprint(fetches), "1", fetches == 1 && wrong == 0},
		{"the same: p99 wait", p99.Round(time.Millisecond).String(), "1.5s", p99 <= own+500*time.Millisecond},
		{"the same: highest RSS", fmt.Sprintf("%d MiB", highest), "300 MB", highest <= 286},
	}
}

// crawl asks for 200 new origins a second, 30 % of them silent.
func crawl(o options) []figure {
	const own = 100 * time.Millisecond
	r := newRig(nil)
	defer r.close()
	r.origin.OnRequest(func(faultorigin.Exchange) {})
	var all sync.WaitGroup
	var mu sync.Mutex
	var waits []time.Duration
	refused := 0
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	n := int(o.minutes / (5 * time.Millisecond))
	for i := range n {
		<-tick.C
		host := fmt.Sprintf("healthy.%d.test", i)
		dead := i%10 < 3
		if dead {
			host = fmt.Sprintf("hang.%d.test", i)
		} else {
			r.origin.Set(host, slowly(own))
		}
		all.Go(func() {
			began := time.Now()
			a := r.Lookup(context.Background(), plain(host), "ExampleBot/1.0", "examplebot")
			took := time.Since(began)
			r.origin.Set(host, nil)
			if dead {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, took)
			if a.Copy == nil {
				refused++
			}
		})
	}
	all.Wait()
	slices.Sort(waits)
	p99 := percentile(waits, 0.99)
	return []figure{
		{
			fmt.Sprintf("200 new origins/s for %v, 30 %% dead: p99 of healthy", o.minutes),
			p99.Round(time.Millisecond).String(), "their own 0.1 s + 1 s", p99 <= own+time.Second,
		},
		{"the same: healthy origins refused", fmt.Sprintf("%d of %d", refused, len(waits)), "0", refused == 0},
	}
}

// recovery is how soon an origin that heals is used again, at the default
// backoff.
func recovery(options) []figure {
	r := newRig(nil)
	defer r.close()
	r.origin.Set("sick.test", faultorigin.Answer(503, "", ""))
	ask := func() cache.Answer {
		return r.Lookup(context.Background(), plain("sick.test"), "ExampleBot/1.0", "examplebot")
	}
	first := ask()
	time.Sleep(time.Second)
	ask() // somebody is still interested
	r.origin.Set("sick.test", nil)
	healed, promised := time.Now(), first.RetryAfter-time.Second
	for ask().Copy == nil {
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(healed)
	return []figure{{
		"recovery after an origin heals", took.Round(10 * time.Millisecond).String(),
		"next retry, " + promised.Round(10*time.Millisecond).String(), took <= promised+200*time.Millisecond,
	}}
}
