package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsgate/robotsgate/internal/cache"
	"github.com/robotsgate/robotsgate/internal/fetch"
	"github.com/robotsgate/robotsgate/internal/origin"
)

const limit = 256 << 20

func site(host string) origin.Origin { return origin.Origin{Scheme: "https", Host: host, Port: 443} }

// bodies are the real files, or files of their sizes.
func bodies(dir string) [][]byte {
	names, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
	var out [][]byte
	for _, name := range names {
		if body, err := os.ReadFile(name); err == nil {
			out = append(out, body[:min(len(body), fetch.DefaultMaxBody)])
		}
	}
	if len(out) > 0 {
		return out
	}
	fmt.Fprintln(os.Stderr, "no real files in", dir, "- sizes are made up")
	for range 1000 {
		lines := int(20 * rand.ExpFloat64() * rand.ExpFloat64() * 5)
		out = append(out, []byte("User-agent: *\n"+strings.Repeat("Disallow: /some/path/\n", lines)))
	}
	return out
}

// warm measures a lookup of a known origin.
func warm(options) []figure {
	c := cache.New(cache.NewShared(), cache.Config{Fetch: func(context.Context, fetch.Request) fetch.Result {
		return fetch.Result{Outcome: fetch.Rules, Status: 200, Body: []byte("User-agent: *\nDisallow: /private\n")}
	}})
	ctx, tokens := context.Background(), []string{"examplebot", "example"}
	o := site("www.example.com")
	for range 2 {
		c.Lookup(ctx, o, "ExampleBot/1.0", "examplebot").Copy.Matcher(tokens...)
	}
	best := testing.BenchmarkResult{N: 1, T: time.Hour}
	for range 5 {
		result := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Lookup(ctx, o, "ExampleBot/1.0", "examplebot").Copy.Matcher(tokens...)
			}
		})
		if result.NsPerOp() < best.NsPerOp() {
			best = result
		}
	}
	return []figure{{
		"warm lookup, origin to rules for a token",
		fmt.Sprintf("%d ns, %d allocations", best.NsPerOp(), best.AllocsPerOp()),
		"100 ns, 0 allocations", best.NsPerOp() <= 100 && best.AllocsPerOp() == 0,
	}}
}

// origins visits many origins once, then asks for them as real traffic does.
func origins(o options) []figure {
	texts := bodies(o.real)
	fetched := 0
	resetHighest()
	shared := cache.NewShared()
	c := cache.New(shared, cache.Config{MaxSize: limit, Fetch: func(_ context.Context, r fetch.Request) fetch.Result {
		fetched++
		if r.Origin.Host[0] == 'n' {
			return fetch.Result{Outcome: fetch.Unavailable, Status: 404, FinalURL: r.Origin.RobotsURL(), UserAgent: r.UserAgent}
		}
		return fetch.Result{
			Outcome: fetch.Rules, Status: 200, Body: texts[rand.IntN(len(texts))],
			FinalURL: r.Origin.RobotsURL(), UserAgent: r.UserAgent,
		}
	}})
	c.Start()
	defer c.Stop()
	ctx := context.Background()
	visit := func(i uint64) {
		host := fmt.Sprintf("www.site-%07d.example.com", i)
		if i%2 == 0 {
			host = "no" + host // has no robots.txt
		}
		if a := c.Lookup(ctx, site(host), "ExampleBot/1.0 (+https://example.com/bot)", "examplebot"); a.Copy != nil {
			a.Copy.Matcher("examplebot", "example").Match("/some/path")
		}
	}
	began := time.Now()
	for i := range o.origins {
		visit(uint64(i))
	}
	took := time.Since(began)
	_, highest := resident()
	stats := c.Stats()
	out := []figure{
		{fmt.Sprintf("%d origins visited, in %.0f s: cache bytes", o.origins, took.Seconds()), fmt.Sprintf("%d MiB", stats.Bytes>>20), "256 MiB", stats.Bytes <= limit},
		{"the same: highest RSS", fmt.Sprintf("%d MiB", highest), "512 MiB", highest <= 512},
		{"the same: origins resident", fmt.Sprintf("%d", stats.Entries), "printed", true},
	}
	for _, skew := range []float64{1.01, 1.1} {
		zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), skew, 1, uint64(o.origins-1))
		for range o.origins {
			visit(zipf.Uint64())
		}
		fetched = 0
		const requests = 1_000_000
		for range requests {
			visit(zipf.Uint64())
		}
		out = append(out, figure{
			fmt.Sprintf("hit rate under Zipf traffic, s=%.2f", skew),
			fmt.Sprintf("%.2f %%", 100-100*float64(fetched)/requests), "printed", true,
		})
	}
	out = append(out, hotSet(c, visit, &fetched)...)
	_, highest = resident()
	return append(out, figure{"all of this: highest RSS", fmt.Sprintf("%d MiB", highest), "512 MiB", highest <= 512})
}

// hotSet asks for 1,000 origins again and again while one client walks past
// the others, ten new ones for each of them.
func hotSet(c *cache.Cache, visit func(uint64), fetched *int) []figure {
	const hot = 1000
	for range 20 {
		for i := range uint64(hot) {
			visit(i)
		}
	}
	missed, asked := 0, 0
	next := uint64(10_000_000)
	for range 50 {
		for i := range uint64(hot) {
			for range 10 {
				visit(next)
				next++
			}
			before := *fetched
			visit(i)
			missed += *fetched - before
			asked++
		}
	}
	rate := 100 - 100*float64(missed)/float64(asked)
	return []figure{{"hit rate of 1,000 hot origins, ten new ones between", fmt.Sprintf("%.2f %%", rate), "99 %", rate >= 99}}
}
